import type { Progress } from '../../contract/progress.ts'
import { RalphError } from '../../contract/errors.ts'
import { askLine, askYesOrNo } from '../io/confirm.ts'
import type { Io } from '../io/io.ts'
import type { FoundSprint } from '../sprint/find-sprint.ts'
import { answerQuestion } from '../sprint/requests.ts'

/** `answered`: here, or by another command in the meantime. `later`: there is no question or no terminal, or the user waits. */
export type AskedQuestion = 'answered' | 'later'

/** Asks the open question on the terminal until the answer is a text or the number of an option. */
export async function askQuestion(
  { humanNeeded, failure }: Progress,
  sprint: FoundSprint,
  io: Io,
): Promise<AskedQuestion> {
  // No text signs an agent in: the summary has the command, and the next run continues by itself.
  if (!humanNeeded || failure?.class === 'auth') return 'later'
  const range = humanNeeded.options?.length ? `1 to ${humanNeeded.options.length}, or text` : 'text'
  for (;;) {
    const answer = await readAnswer(`your answer (${range}; Enter to answer later): `, io)
    if (answer === undefined || answer === '') return 'later'
    try {
      const { answer: chosen } = await answerQuestion(sprint, answer, io)
      io.print(`answered: ${chosen}`)
      return 'answered'
    } catch (error) {
      if (!(error instanceof RalphError) || !['USAGE', 'NO_QUESTION'].includes(error.code)) throw error
      io.printError(error.hint === undefined ? error.message : `${error.message}; ${error.hint}`)
      if (error.code === 'NO_QUESTION') return 'answered'
    }
  }
}

/** Asks again if the user typed a command by mistake: the prompt looks like that of a shell. */
export async function readAnswer(prompt: string, io: Io): Promise<string | undefined> {
  for (;;) {
    const answer = await askLine(prompt, io)
    if (answer === undefined || !isCommand(answer)) return answer
    const choice = await askYesOrNo(`"${answer}" looks like a command or a key. Send it as the answer?`, io)
    if (choice !== 'no') return choice === 'yes' ? answer : undefined
    io.print('not sent')
  }
}

const isCommand = (text: string): boolean =>
  /^\$?\s*(?:ralph|git|npm|npx|claude|codex|cd|ls|cat)(?:\s|$)/.test(text) ||
  /^(?:quit|exit|help|clear|:q|[dlpqst?])$/.test(text)
