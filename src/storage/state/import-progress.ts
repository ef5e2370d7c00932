import type { Progress } from '../../contract/progress.ts'
import { importedClaimReason } from '../seed/imported-claim.ts'

/**
 * An import never ends a sprint: whatever can write to the project can write `completed`. It becomes a claim to be checked.
 * Neither does an iteration that was accepted and only had to be closed.
 */
export function reopenCompleted(progress: Progress): Progress {
  const isEnding = progress.ending?.status === 'completed' || progress.live.some(isAccepted)
  if (progress.status !== 'completed' && !isEnding) return progress
  const { ending: _ending, ...kept } = progress
  return {
    ...kept,
    status: progress.status === 'completed' ? 'in-progress' : progress.status,
    reason: importedClaimReason,
    live: progress.live.filter((live) => !isAccepted(live)),
    stats: { ...progress.stats, completedAt: null },
    ralphExit: { detectedAt: null, iteration: null, finalSummary: null },
  }
}

const isAccepted = ({ verdict }: Progress['live'][number]): boolean => verdict === 'accepted'
