import { clipText } from '../../../contract/text.ts'
import type { AttemptEnd } from '../../core/fact.ts'
import { toOneLine } from '../../core/prompt-sections.ts'
import type { LockState } from '../../core/way.ts'

const maxSummaryLength = 2000

/** The report of the notes protocol. A deleted lock is a claim like any other: the checks decide. */
export function readLock(lock: LockState, lastMessage: string): AttemptEnd {
  const summary = clipText(lastMessage.trim(), maxSummaryLength)
  const nothing = { completedStepIds: [], pendingSteps: [] }
  if (lock.exists) return { kind: 'report', report: { status: 'continue', summary: summary, ...nothing } }
  const sentence = lock.text?.trim() || summary || 'the agent deleted its lock'
  if (lock.outcome === 'stuck') {
    const humanNeeded = { reason: toOneLine(sentence), details: summary }
    return { kind: 'report', report: { status: 'needs-human', summary: summary, humanNeeded, ...nothing } }
  }
  const goalCompleteSummary = clipText(sentence, maxSummaryLength)
  return { kind: 'report', report: { status: 'goal-complete', summary: summary, goalCompleteSummary, ...nothing } }
}
