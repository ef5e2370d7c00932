import type { Io } from '../../src/cli/io/io.ts'
import { noon } from './builders.ts'

/** A terminal that records its output: no colours, 100 columns, not interactive, unless overridden. */
export function createTestIo(overrides: Partial<Io> = {}) {
  const printed: string[] = []
  const errors: string[] = []
  const io: Io = {
    print: (text) => void printed.push(text),
    write: (text) => void printed.push(text),
    printError: (text) => void errors.push(text),
    env: {},
    cwd: '/',
    now: () => noon,
    canRedraw: false,
    canAsk: false,
    useColor: false,
    columns: () => 100,
    rows: () => 24,
    outputClosed: new AbortController().signal,
    ...overrides,
  }
  return { io, printed, errors, text: () => printed.join('\n') }
}
