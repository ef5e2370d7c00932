import { harmless } from './paint.ts'

/** What a command may use of the terminal and the process it runs in. */
export interface Io {
  readonly print: (text: string) => void
  /** Without a newline, for what is overwritten again. */
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

/** What is printed for a program stays as it is. */
const shown = (text: string, { isTTY }: { readonly isTTY?: boolean }): string => (isTTY ? harmless(text) : text)

export const processIo: Io = {
  print: (text) => void process.stdout.write(`${shown(text, process.stdout)}\n`),
  write: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(`${shown(text, process.stderr)}\n`),
  // A copy: each look at the variables of a process is a call of the system.
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
