import type { Progress } from '../contract/progress.ts'

type Question = Omit<NonNullable<Progress['humanNeeded']>, 'askedAt'>

/** Opens a question. If another one is already open, both are answered together. */
export function withQuestion(progress: Progress, asked: Question, at: number): Progress {
  const { humanNeeded: open } = progress
  if (!open) return { ...progress, humanNeeded: { ...asked, askedAt: at } }
  const details = [open.details, `Also: ${asked.reason}`, asked.details].filter((text) => text.trim() !== '')
  return { ...progress, humanNeeded: { ...open, details: details.join('\n\n') } }
}
