import type { AttemptEnd } from './fact.ts'
import { clip, oneLine } from './prompt-sections.ts'

/** What the notes folder says once the agent's turn is over. */
export type LockState =
  | { readonly exists: true }
  /** `outcome` and `text`: what the agent has left behind, if it did. */
  | { readonly exists: false; readonly outcome?: 'done' | 'stuck' | undefined; readonly text?: string | undefined }

const longestSummary = 2000

/** The report of the notes protocol. A lock that is gone is a claim, and as good as any other: the checks decide. */
export function readLock(lock: LockState, lastMessage: string): AttemptEnd {
  const said = clip(lastMessage.trim(), longestSummary)
  const nothing = { completedStepIds: [], pendingSteps: [] }
  if (lock.exists) return { kind: 'report', report: { status: 'continue', summary: said, ...nothing } }
  const sentence = lock.text?.trim() || said || 'the agent has deleted its lock'
  if (lock.outcome === 'stuck') {
    const humanNeeded = { reason: oneLine(sentence), details: said }
    return { kind: 'report', report: { status: 'needs-human', summary: said, humanNeeded, ...nothing } }
  }
  const goalCompleteSummary = clip(sentence, longestSummary)
  return { kind: 'report', report: { status: 'goal-complete', summary: said, goalCompleteSummary, ...nothing } }
}
