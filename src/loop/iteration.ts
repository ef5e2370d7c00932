import { noUsage } from '../contract/outcome.ts'
import { historyLimits, type IterationRecord, type LiveIteration, type Progress } from '../contract/progress.ts'
import { chooseAgent } from './agents.ts'
import { describeReachedLimit } from './limits.ts'
import { chooseMode } from './iteration-mode.ts'
import { andThen, emitEvent, type Order, type Transition } from './order.ts'
import { restSprint, restOnRequest } from './rest.ts'
import { closeWork } from './standard/work-ended.ts'

/** Delay before the first attempt of an iteration. */
type Pause = { readonly ms: number; readonly reason: string }

/** Starts the next iteration, unless a limit is reached. With a pause, its first attempt waits. */
export function startIteration(progress: Progress, at: number, pause?: Pause): Transition {
  const limit = describeReachedLimit(progress)
  if (limit) return restSprint(progress, 'limit-reached', limit)
  const { mode, step, idleCount } = chooseMode(progress)
  const { agent } = chooseAgent(progress, at)
  const opened = openIteration(
    { ...progress, ralph: { ...progress.ralph, idleCount } },
    {
      mode,
      ...(step && { step: step.id, stepPrompt: step.prompt }),
      ...(agent !== undefined && { agent }),
      ...(pause && { wait: { until: at + pause.ms, reason: pause.reason } }),
    },
    at,
  )
  return andThen(createSwitchNote(progress, agent), opened)
}

/** Reports every change of the agent, including back to the first choice. */
function createSwitchNote({ iterations }: Progress, agent: string | undefined): Order[] {
  const before = iterations.at(-1)?.agent
  if (agent === undefined || before === undefined || before === agent) return []
  return [emitEvent({ type: 'note', level: 'info', text: `${agent} takes over from ${before}` })]
}

type IterationOpening = Pick<LiveIteration, 'mode' | 'step' | 'work' | 'agent'> & {
  readonly stepPrompt?: string
  /** Delay of its first attempt. */
  readonly wait?: { readonly until: number; readonly reason: string }
}

/** Opens the iteration with the next number and its first attempt. */
export function openIteration(
  progress: Progress,
  { stepPrompt, wait, ...opening }: IterationOpening,
  at: number,
): Transition {
  const added = addIteration(
    progress,
    { ...opening, stage: wait ? 'waiting' : 'agent', attempt: 1, ...(!wait && { promptedAt: at }) },
    at,
  )
  const { number: iteration } = added.live
  const { mode, step, work } = opening
  const started = emitEvent({ type: 'iteration-started', iteration, mode, step, stepPrompt, ...(work && { work }) })
  const order: Order = wait ? { type: 'wait', iteration, ...wait } : { type: 'run-attempt', iteration, attempt: 1 }
  return { progress: added.progress, orders: [started, order] }
}

type NewIteration = Omit<LiveIteration, 'number' | 'startedAt' | 'costUsd' | 'usage'>

export function addIteration(progress: Progress, fields: NewIteration, at: number) {
  const number = progress.stats.currentIteration + 1
  const live: LiveIteration = { number, ...fields, startedAt: at, costUsd: 0, usage: noUsage }
  const stats = { ...progress.stats, currentIteration: number }
  return { live, progress: { ...progress, live: [...progress.live, live], stats } }
}

/** Writes the receipt of an iteration, then starts the next one or rests. */
export function endIteration(progress: Progress, live: LiveIteration, at: number, pause?: Pause): Transition {
  const record = createReceipt(live, at)
  const { verdict } = record
  const { stats } = progress
  const withoutProgress = madeProgress(progress, live) ? 0 : stats.withoutProgress + 1
  const ended: Progress = {
    ...progress,
    live: progress.live.filter(({ number }) => number !== live.number),
    iterations: [...progress.iterations, record].slice(-historyLimits.iterations),
    stats: { ...stats, withoutProgress },
  }
  const endedEvent = emitEvent({
    type: 'iteration-ended',
    iteration: live.number,
    verdict,
    summary: live.summary,
    durationMs: at - live.startedAt,
    costUsd: live.costUsd,
  })
  if (progress.mode === 'standard') return andThen([endedEvent], closeWork(ended, live, at))
  return andThen([endedEvent], afterIteration(ended, record, at, pause))
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

/** Whether files, steps or checks changed. If the state of the files is unknown, assume that they did. */
function madeProgress({ mode, limits, iterations, baseline = [] }: Progress, live: LiveIteration): boolean {
  if (mode === 'standard' || limits.noProgress === 'off' || live.changed !== false || live.stepsChanged === true)
    return true
  if (!live.checks) return false
  const before = iterations.findLast(({ checks }) => checks)?.checks ?? baseline
  return live.checks.some(({ name, passed }) => before.find((check) => check.name === name)?.passed !== passed)
}

function afterIteration(progress: Progress, record: IterationRecord, at: number, pause?: Pause): Transition {
  if (record.verdict === 'accepted') {
    return restSprint({ ...progress, stats: { ...progress.stats, completedAt: at } }, 'completed')
  }
  if (progress.humanNeeded) {
    const { askedAt: _at, ...question } = progress.humanNeeded
    const asked = emitEvent({ type: 'question-asked', iteration: record.number, ...question })
    return andThen([asked], restSprint(progress, 'needs-human', question.reason))
  }
  if (progress.status === 'blocked') return restSprint(progress, 'blocked', progress.reason)
  if (progress.status !== 'in-progress') return { progress, orders: [] }
  if (progress.stopRequested) return restOnRequest(progress, progress.stopRequested.as)
  if (hasReflected(progress) && !describeReachedLimit(progress)) return askAfterNoProgress(progress, record, at)
  return startIteration(progress, at, pause)
}

/** The extra reflecting iteration, which knew why, changed nothing either. */
const hasReflected = ({ limits, stats }: Progress): boolean =>
  limits.noProgress !== 'off' && stats.withoutProgress > limits.noProgress

function askAfterNoProgress(progress: Progress, { number, summary = '' }: IterationRecord, at: number): Transition {
  const reason = `No progress in ${progress.stats.withoutProgress} iterations: no file, step or check has changed`
  const details = `The last thing the agent said: ${summary}`
  const humanNeeded = { reason, details, askedAt: at }
  const asked = emitEvent({ type: 'question-asked', iteration: number, reason, details })
  const again = { ...progress, humanNeeded, stats: { ...progress.stats, withoutProgress: 0 } }
  return andThen([asked], restSprint(again, 'needs-human', reason))
}
