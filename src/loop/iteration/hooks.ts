import { historyLimits, type HookTask, type LiveIteration, type Progress } from '../../contract/progress.ts'
import type { Hook } from '../../contract/settings.ts'
import { warnUnpriced, addSprintCost } from '../core/cost.ts'
import type { Fact } from '../core/fact.ts'
import { endIteration } from './end-iteration.ts'
import { createIllegalFact, getLiveIteration, replaceLive } from '../core/live-iteration.ts'
import { andThen, emitEvent, type Order, type Transition } from '../core/order.ts'
import { scheduleRest, isStopped, restSprint } from '../core/rest.ts'

/**
 * Runs after the agent and the checks: sequential hooks one by one, a checkpoint, then all parallel hooks at once, which ends
 * the iteration. An iteration without an agent has no hooks. Concurrent iterations share one checkpoint, made by the last of
 * them, because until then files may be half-written. In a stopped sprint, the next run does all of this.
 */
export function runHooks(progress: Progress, live: LiveIteration, at: number): Transition {
  if (live.attempt === 0) return endIteration(progress, live, at)
  if (isStopped(progress)) return { progress: replaceLive(progress, { ...live, stage: 'hooks' }), orders: [] }
  const enabled = live.hooks === 'skipped' ? [] : progress.perIterationHooks.filter((hook) => hook.enabled)
  const sequential = enabled.find((hook) => !hook.parallel && !findHookTask(progress, live.number, hook.id))
  if (sequential) {
    const waiting = replaceLive(progress, { ...live, stage: 'hooks' })
    return startHooks(waiting, live.number, [sequential], at)
  }
  const isAlone = progress.live.every(({ number, stage }) => number === live.number || stage === 'waiting')
  if (progress.checkpoint !== false && live.stage !== 'checkpoint' && isAlone) {
    const keeping = replaceLive(progress, { ...live, stage: 'checkpoint' })
    return { progress: keeping, orders: [{ type: 'make-checkpoint', iteration: live.number }] }
  }
  const parallel = enabled.filter((hook) => hook.parallel)
  const started = startHooks(progress, live.number, parallel, at)
  return andThen(started.orders, endIteration(started.progress, live, at, getRemainingPause(live, at)))
}

/** Without a valid report no hook runs, which is recorded; the checkpoint is still made. */
export function endWithoutHooks(progress: Progress, live: LiveIteration, at: number, pauseUntil = at): Transition {
  const hasHooks = progress.perIterationHooks.some((hook) => hook.enabled)
  const closing: LiveIteration = {
    ...live,
    ...(hasHooks && { hooks: 'skipped' }),
    ...(pauseUntil > at && { pauseUntil }),
  }
  return runHooks(progress, closing, at)
}

function getRemainingPause({ pauseUntil = 0, verdict }: LiveIteration, at: number) {
  if (pauseUntil <= at) return undefined
  return { ms: pauseUntil - at, reason: verdict === 'malformed' ? 'no valid report' : 'too many failed starts' }
}

export function onCheckpointMade(progress: Progress, fact: Extract<Fact, { type: 'checkpoint-made' }>): Transition {
  const live = getLiveIteration(progress, fact.iteration, fact)
  if (live.stage !== 'checkpoint') throw createIllegalFact(progress, fact, 'no checkpoint is being made')
  return runHooks(progress, { ...live, ...(fact.commit !== undefined && { checkpoint: fact.commit }) }, fact.at)
}

function startHooks(progress: Progress, iteration: number, hooks: readonly Hook[], at: number): Transition {
  const tasks = hooks.map((hook): HookTask => ({
    iteration,
    hookId: hook.id,
    status: 'running',
    spawnedAt: at,
    transcript: `transcripts/iter-${iteration}-${hook.id}.jsonl`,
  }))
  const orders = hooks.flatMap((hook): Order[] => [
    emitEvent({ type: 'hook-started', iteration, hook: hook.id, parallel: hook.parallel }),
    { type: 'run-hook', iteration, hookId: hook.id },
  ])
  return { progress: { ...progress, hookTasks: trimHookTasks([...progress.hookTasks, ...tasks]) }, orders }
}

export function onHookEnded(progress: Progress, fact: Extract<Fact, { type: 'hook-ended' }>): Transition {
  const task = findHookTask(progress, fact.iteration, fact.hookId)
  if (task?.status !== 'running') throw createIllegalFact(progress, fact, `hook ${fact.hookId} is not running`)
  const failed = fact.exitCode !== 0 || fact.error !== undefined
  const ended: HookTask = {
    ...task,
    status: failed ? 'failed' : 'completed',
    completedAt: fact.at,
    exitCode: fact.exitCode,
    ...(fact.error !== undefined && { error: fact.error }),
    ...(fact.spent && { costUsd: fact.spent.costUsd ?? null }),
  }
  const endedEvent = emitEvent({
    type: 'hook-ended',
    iteration: fact.iteration,
    hook: fact.hookId,
    ok: !failed,
    exitCode: fact.exitCode,
    error: fact.error,
  })
  const paid = fact.spent ? addSprintCost(progress, fact.spent) : progress
  const recorded = { ...paid, hookTasks: paid.hookTasks.map((other) => (other === task ? ended : other)) }
  const next = failed ? onFailedHook(recorded, fact) : { progress: recorded, orders: [] }
  const orders = [endedEvent, ...warnUnpriced(progress, paid), ...next.orders]
  const live = next.progress.live.find(({ number, stage }) => number === fact.iteration && stage === 'hooks')
  if (!live) return { progress: next.progress, orders }
  return andThen(orders, runHooks(next.progress, live, fact.at))
}

/** Records a failed hook. It only stops the sprint with `on-fail: block`. */
function onFailedHook(progress: Progress, fact: Extract<Fact, { type: 'hook-ended' }>): Transition {
  const onFail = progress.perIterationHooks.find((hook) => hook.id === fact.hookId)?.onFail
  const output = fact.output ?? fact.error ?? `exit code ${fact.exitCode}`
  if (onFail === 'feed-back') {
    const feedback = [...(progress.feedback ?? []), { hookId: fact.hookId, output }]
    return { progress: { ...progress, feedback }, orders: [] }
  }
  if (onFail === 'block') {
    return blockByHook(progress, `hook ${fact.hookId} failed: ${fact.error ?? `exit code ${fact.exitCode}`}`)
  }
  return { progress, orders: [] }
}

/** Lets the running iteration finish first; an iteration that waits for its next attempt stays as it is. */
function blockByHook(progress: Progress, reason: string): Transition {
  if (progress.status !== 'in-progress' && progress.status !== 'parked') return { progress, orders: [] }
  if (progress.mode === 'standard') return scheduleRest(progress, { status: 'blocked', reason, error: reason })
  if (progress.live.some(({ stage }) => stage !== 'waiting')) {
    return { progress: { ...progress, status: 'blocked', reason }, orders: [] }
  }
  return andThen([{ type: 'abort', what: 'waits' }], restSprint(progress, 'blocked', reason))
}

export const isHookRunning = (progress: Progress, iteration: number): boolean =>
  progress.hookTasks.some((task) => task.iteration === iteration && task.status === 'running')

const findHookTask = (progress: Progress, iteration: number, hookId: string): HookTask | undefined =>
  progress.hookTasks.findLast((task) => task.iteration === iteration && task.hookId === hookId)

/** Drops old finished tasks, never a running one. */
function trimHookTasks(tasks: readonly HookTask[]): HookTask[] {
  const surplus = tasks.length - historyLimits.hookTasks
  if (surplus <= 0) return [...tasks]
  return tasks.filter((task, index) => index >= surplus || task.status === 'running')
}
