import { createInterface } from 'node:readline/promises'

/** Asks the user. Resolves with the typed text, or undefined if the user cancelled. */
export type AskUser = (question: string) => Promise<string | undefined>

export interface Interview {
  readonly ask: AskUser
  readonly say: (text: string) => void
}

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
