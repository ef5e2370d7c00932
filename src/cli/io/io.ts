import { stripControlSequences } from './paint.ts'

/** What a command may use of its terminal and process. */
export interface Io {
  readonly print: (text: string) => void
  /** Prints without a newline, for lines that are overwritten. */
  readonly write: (text: string) => void
  readonly printError: (text: string) => void
  /** A program reads the output: no lines for people between JSON. */
  readonly printsJson?: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly now: () => number
  /** Output is a terminal that can overwrite lines: no pipe, no file, not TERM=dumb. */
  readonly canRedraw: boolean
  /** A user can also type: input is a terminal too. */
  readonly canAsk: boolean
  readonly useColor: boolean
  readonly columns: () => number
  readonly rows: () => number
  /** Aborts when output fails, as after `| head`. Commands that wait or run agents stop then; others finish silently. */
  readonly outputClosed: AbortSignal
}

/**
 * Output to a terminal loses its control sequences. Output to a program stays unchanged, such as a patch; in JSON, which users
 * often print later, unsafe characters become escapes with the same meaning.
 */
export function sanitizeOutput(text: string, { isTTY }: { readonly isTTY?: boolean }): string {
  if (isTTY) return stripControlSequences(text)
  return /^[[{]/.test(text) && unsafeCharacter.test(text) && isJson(text)
    ? text.replaceAll(unsafeCharacters, escapeCharacter)
    : text
}

/** C1 control characters and marks that change the direction of text. JSON.stringify escapes C0 itself. */
const unsafeCharacter = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
const unsafeCharacters = new RegExp(unsafeCharacter, 'g')

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const canRedraw = process.stdout.isTTY && process.env['TERM'] !== 'dumb'

const outputClosed = new AbortController()

export const processIo: Io = {
  print: (text) => void process.stdout.write(`${sanitizeOutput(text, process.stdout)}\n`),
  write: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(`${sanitizeOutput(text, process.stderr)}\n`),
  // A copy: commands see the environment of the start, and reading process.env converts the value each time.
  env: { ...process.env },
  cwd: process.cwd(),
  now: () => Date.now(),
  canRedraw,
  canAsk: canRedraw && process.stdin.isTTY,
  useColor: shouldUseColor(process.env),
  columns: () => process.stdout.columns ?? 100,
  rows: () => process.stdout.rows ?? 24,
  outputClosed: outputClosed.signal,
}

/** Handles failed writes, which would end the process in the middle of its work. `onFailure` receives all but a closed pipe. */
export function handleOutputErrors(onFailure: (error: Error) => void): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (outputClosed.signal.aborted) return
    outputClosed.abort()
    if (error.code !== 'EPIPE') onFailure(error)
  })
  process.stderr.on('error', () => {})
}

function shouldUseColor(env: Io['env']): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0'
  return canRedraw
}
