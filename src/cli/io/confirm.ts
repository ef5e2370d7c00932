import type { Io } from './io.ts'

/** Asks the user on the terminal; without one, the answer is no. */
export async function confirm(question: string, io: Io): Promise<boolean> {
  if (!io.isTerminal || !process.stdin.isTTY) return false
  const { createTerminalInterview } = await import('./terminal-interview.ts')
  const terminal = createTerminalInterview()
  try {
    const answer = await terminal.ask(`${question} [y/N] `)
    return /^y(?:es)?$/i.test(answer?.trim() ?? '')
  } finally {
    terminal.close()
  }
}
