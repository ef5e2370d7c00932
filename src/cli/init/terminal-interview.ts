import { createInterface } from 'node:readline/promises'
import type { Interview } from './questions.ts'

/** Asks on this process's terminal. Ctrl-C and Ctrl-D cancel this question and every later one. */
export function createTerminalInterview(): Interview & { readonly close: () => void } {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const gone = new AbortController()
  terminal.once('SIGINT', () => terminal.close())
  terminal.once('close', () => gone.abort())
  return {
    ask: (question) => terminal.question(question, { signal: gone.signal }).catch(() => undefined),
    say: (text) => void process.stdout.write(`${text}\n`),
    close: () => terminal.close(),
  }
}
