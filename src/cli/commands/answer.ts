import { RalphError } from '../../contract/errors.ts'
import { defineCommand } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { readAnswer } from '../run/ask-question.ts'
import { findSprintAndValue, isNoSprint } from '../sprint/find-sprint.ts'
import { answerQuestion, requireQuestion } from '../sprint/requests.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import { resumeCommand } from '../view/raised-limits.ts'
import { questionLines } from '../view/receipt.ts'

export const answer = defineCommand({
  name: 'answer',
  summary: 'Answer the open question of a sprint',
  arguments: ['[sprint]', '[answer]'],
  options: { json: { type: 'boolean', description: 'print {question, answer} as JSON' } },
  details: `Takes the number of an option, or any text. The next prompt has the question, its options and your answer.
Without an answer, prints the question and asks for it on a terminal. Without a sprint, answers the one that asks.
Resume with: ralph run`,
  examples: ['ralph answer 2', 'ralph answer auth "Use the staging database"'],
  async run({ values, positionals }, io) {
    const found = await findSprintAndValue(positionals, isNoSprint(io), io, hasQuestion)
    const text = found.value ?? (await askForAnswer(found, io))
    const answered = await answerQuestion(found, text, io)
    const progress = await loadProgress(found.sprintDir)
    io.print(
      values.json === true
        ? JSON.stringify(answered)
        : `answered: ${answered.answer}; resume with: ${resumeCommand(found.name, progress)}`,
    )
    return 0
  },
})

const hasQuestion = async (sprintDir: string): Promise<boolean> =>
  (await loadProgress(sprintDir).catch(() => undefined))?.humanNeeded !== undefined

async function askForAnswer(sprint: { readonly sprintDir: string; readonly name: string }, io: Io): Promise<string> {
  const question = await requireQuestion(sprint, io)
  if (!io.canAsk) {
    throw new RalphError('USAGE', `answer: missing [answer] to: ${question.reason}`, {
      hint: `ralph answer ${sprint.name} "…"`,
    })
  }
  for (const line of questionLines(question)) io.print(line)
  return (await readAnswer('> ', io)) ?? ''
}
