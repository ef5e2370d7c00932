import type { Io } from './io.ts'

/** Asks the user on the terminal; without one, the answer is no. */
export const confirm = async (question: string, io: Io): Promise<boolean> =>
  /^y(?:es)?$/i.test((await askLine(`${question} [y/N] `, io)) ?? '')

/** Asks the user for one line on the terminal; undefined without one, or if the user cancelled. */
export async function askLine(question: string, io: Io): Promise<string | undefined> {
  if (!io.isTerminal || !process.stdin.isTTY) return undefined
  const { createTerminalInterview } = await import('./terminal-interview.ts')
  const terminal = createTerminalInterview()
  try {
    return (await terminal.ask(question))?.trim()
  } finally {
    terminal.close()
  }
}
