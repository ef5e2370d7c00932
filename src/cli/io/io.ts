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

/**
 * What a terminal gets cannot steer it. Output for programs is printed unchanged, such as a patch; in JSON, which people often look
 * at, characters that would steer a terminal are written as escapes and so mean the same.
 */
export function sanitizeOutput(text: string, { isTTY }: { readonly isTTY?: boolean }): string {
  if (isTTY) return stripControlSequences(text)
  return /^[[{]/.test(text) && steering.test(text) && isJson(text)
    ? text.replaceAll(allSteering, escapeCharacter)
    : text
}

/** C1 and the marks that change the direction of text. JSON.stringify escapes C0 itself. */
const steering = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
const allSteering = new RegExp(steering, 'g')

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export const processIo: Io = {
  print: (text) => void process.stdout.write(`${sanitizeOutput(text, process.stdout)}\n`),
  write: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(`${sanitizeOutput(text, process.stderr)}\n`),
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
