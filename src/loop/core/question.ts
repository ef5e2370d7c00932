import type { Progress } from '../../contract/progress.ts'

type HumanQuestion = Omit<NonNullable<Progress['humanNeeded']>, 'askedAt'>

/** Opens a question. If another one is already open, both are answered together. */
export function openQuestion(progress: Progress, question: HumanQuestion, at: number): Progress {
  const { humanNeeded: open } = progress
  if (!open) return { ...progress, humanNeeded: { ...question, askedAt: at } }
  const details = [open.details, `Also: ${question.reason}`, question.details].filter((text) => text.trim() !== '')
  return { ...progress, humanNeeded: { ...open, details: details.join('\n\n') } }
}
