import type { Io } from './io.ts'

/** Asks the user on the terminal; without one, the answer is no. */
export const confirm = async (question: string, io: Io): Promise<boolean> => (await askYesOrNo(question, io)) === 'yes'

/** `usual` is the answer of Enter. Undefined: there is no terminal, or the user cancelled. */
export async function askYesOrNo(
  question: string,
  io: Io,
  usual: 'yes' | 'no' = 'no',
): Promise<'yes' | 'no' | undefined> {
  if (!io.isTerminal || !process.stdin.isTTY) return undefined
  const { createTerminalInterview } = await import('./terminal-interview.ts')
  const terminal = createTerminalInterview()
  try {
    const answer = await terminal.ask(`${question} ${usual === 'yes' ? '[Y/n]' : '[y/N]'} `)
    if (answer === undefined) return undefined
    if (answer.trim() === '') return usual
    return /^y(?:es)?$/i.test(answer.trim()) ? 'yes' : 'no'
  } finally {
    terminal.close()
  }
}
