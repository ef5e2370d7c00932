import type { Io } from './io.ts'

/** Asks the user on the terminal; without one, the answer is no. */
export const confirm = async (question: string, io: Io): Promise<boolean> => (await askYesOrNo(question, io)) === 'yes'

/** `defaultAnswer` is the answer of Enter. Undefined: there is no terminal, or the user cancelled. */
export async function askYesOrNo(
  question: string,
  io: Io,
  defaultAnswer: 'yes' | 'no' = 'no',
): Promise<'yes' | 'no' | undefined> {
  const answer = await askLine(`${question} ${defaultAnswer === 'yes' ? '[Y/n]' : '[y/N]'} `, io)
  if (answer === undefined || answer === '') return answer === '' ? defaultAnswer : undefined
  return /^y(?:es)?$/i.test(answer) ? 'yes' : 'no'
}

/** Asks the user for one line on the terminal; undefined without one, or if the user cancelled. */
export async function askLine(question: string, io: Io): Promise<string | undefined> {
  if (!io.canAsk) return undefined
  const { createTerminalInterview } = await import('./terminal-interview.ts')
  const terminal = createTerminalInterview()
  try {
    return (await terminal.ask(question))?.trim()
  } finally {
    terminal.close()
  }
}
