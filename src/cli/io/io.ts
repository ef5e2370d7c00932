import { stripControlSequences } from './paint.ts'

/** What a command may use of its terminal and process. */
export interface Io {
  readonly print: (text: string) => void
  /** Prints without a newline, for lines that are overwritten. */
  readonly write: (text: string) => void
  readonly printError: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly now: () => number
  readonly isTerminal: boolean
  readonly color: boolean
  readonly columns: () => number
  readonly rows: () => number
}

/** Output for programs is printed unchanged. */
const sanitizeForTerminal = (text: string, { isTTY }: { readonly isTTY?: boolean }): string =>
  isTTY ? stripControlSequences(text) : text

export const processIo: Io = {
  print: (text) => void process.stdout.write(`${sanitizeForTerminal(text, process.stdout)}\n`),
  write: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(`${sanitizeForTerminal(text, process.stderr)}\n`),
  // A copy, because every read of process.env is a system call.
  env: { ...process.env },
  cwd: process.cwd(),
  now: () => Date.now(),
  isTerminal: process.stdout.isTTY && process.env['TERM'] !== 'dumb',
  color: wantsColor(process.env, process.stdout.isTTY),
  columns: () => process.stdout.columns ?? 100,
  rows: () => process.stdout.rows ?? 24,
}

function wantsColor(env: Io['env'], isTerminal: boolean): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0'
  return isTerminal && env['TERM'] !== 'dumb'
}
