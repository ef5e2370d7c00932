import { historyLimits, type IterationRecord, type LiveIteration } from '../../contract/progress.ts'
import { andThen, emitEvent, type Decision } from '../core/order.ts'
import { setHistory, type Sprint } from '../core/sprint.ts'
import type { Pause } from '../core/way.ts'
import { getWay } from '../ways/registry.ts'

/** Writes the receipt of an iteration, then lets the way of the sprint apply it. */
export function endIteration(sprint: Sprint, live: LiveIteration, at: number, pause?: Pause): Decision {
  const record = createReceipt(live, at)
  const ended: Sprint = {
    ...setHistory(sprint, { iterations: [...sprint.history.iterations, record].slice(-historyLimits.iterations) }),
    live: sprint.live.filter(({ number }) => number !== live.number),
  }
  const endedEvent = emitEvent({
    type: 'iteration-ended',
    iteration: live.number,
    verdict: record.verdict,
    summary: live.summary,
    mode: live.mode,
    ...(live.changed !== undefined && { changed: live.changed }),
    durationMs: at - live.startedAt,
    costUsd: live.costUsd,
  })
  return andThen([endedEvent], getWay(sprint).onEnded(ended, live, at, pause))
}

const createReceipt = (
  { number, mode, step, verdict = 'failed', ...live }: LiveIteration,
  at: number,
): IterationRecord => ({
  number,
  mode,
  ...(step !== undefined && { step }),
  ...(live.work && { work: live.work }),
  verdict,
  ...(live.summary !== undefined && { summary: live.summary }),
  ...(live.rejected && { rejected: live.rejected }),
  ...(live.checks && { checks: live.checks }),
  ...(live.tampered && { tampered: live.tampered }),
  ...(live.proof && { proof: live.proof }),
  ...(live.review && { review: live.review }),
  ...(live.changed !== undefined && { changed: live.changed }),
  ...(live.hosts && { hosts: live.hosts }),
  ...(live.checkpoint !== undefined && { checkpoint: live.checkpoint }),
  ...(live.hooks && { hooks: live.hooks }),
  ...(live.agent !== undefined && { agent: live.agent }),
  ...(live.model !== undefined && { model: live.model }),
  ...(live.costEstimated && { costEstimated: live.costEstimated }),
  attempts: live.attempt,
  startedAt: live.startedAt,
  endedAt: at,
  costUsd: live.costUsd,
  usage: live.usage,
})
