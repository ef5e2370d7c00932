import type { Sprint } from './sprint.ts'

type HumanQuestion = Omit<NonNullable<Sprint['question']>, 'askedAt'>

/** An answer by number is the option with that number; every other answer is text. */
export function resolveAnswer({ options = [] }: Pick<HumanQuestion, 'options'>, answer: string): string {
  const text = answer.trim()
  return (/^[1-9]\d{0,2}$/.test(text) ? options[Number(text) - 1] : undefined) ?? text
}

/** Opens a question. If another one is already open, both are answered together. */
export function openQuestion(sprint: Sprint, question: HumanQuestion, at: number): Sprint {
  const { question: open } = sprint
  if (!open) return { ...sprint, question: { ...question, askedAt: at } }
  const details = [open.details, `Also: ${question.reason}`, question.details].filter((text) => text.trim() !== '')
  return { ...sprint, question: { ...open, details: details.join('\n\n') } }
}
