import type { Step } from '../../contract/progress.ts'

/** Agents also write the statuses that phases have. A step that is not done stays pending; a skipped one needs no work. */
const stepStatuses = {
  pending: 'pending',
  'in-progress': 'pending',
  blocked: 'pending',
  failed: 'pending',
  skipped: 'completed',
  completed: 'completed',
} as const satisfies Record<string, Step['status']>

const byName = new Map<unknown, Step['status']>(Object.entries(stepStatuses))

/** The words that may stand in a file. */
export const stepStatusWords = [
  'pending',
  'in-progress',
  'blocked',
  'failed',
  'skipped',
  'completed',
] as const satisfies readonly (keyof typeof stepStatuses)[]

/** An unknown status is not done. */
export const readStepStatus = (word: unknown): Step['status'] => byName.get(word) ?? 'pending'
