import type { Sprint } from './sprint.ts'

type HumanQuestion = Omit<NonNullable<Sprint['question']>, 'askedAt'>

/** Opens a question. If another one is already open, both are answered together. */
export function openQuestion(sprint: Sprint, question: HumanQuestion, at: number): Sprint {
  const { question: open } = sprint
  if (!open) return { ...sprint, question: { ...question, askedAt: at } }
  const details = [open.details, `Also: ${question.reason}`, question.details].filter((text) => text.trim() !== '')
  return { ...sprint, question: { ...open, details: details.join('\n\n') } }
}
