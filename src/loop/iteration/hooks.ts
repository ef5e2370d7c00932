import { historyLimits, type HookTask, type LiveIteration } from '../../contract/progress.ts'
import type { Hook } from '../../contract/settings.ts'
import { warnUnpriced, addSprintCost } from '../core/cost.ts'
import type { Fact } from '../core/fact.ts'
import { endIteration } from './end-iteration.ts'
import { recordWalls } from './walls.ts'
import { createIllegalFact, getLiveIteration, replaceLive } from '../core/live-iteration.ts'
import { andThen, emitEvent, type Order, type Decision } from '../core/order.ts'
import { scheduleRest, isStopped, restSprint } from '../core/rest.ts'
import { setHistory, setInbox, type Sprint } from '../core/sprint.ts'

/**
 * Runs after the agent and the checks: sequential hooks one by one, a checkpoint, then all parallel hooks at once, which ends
 * the iteration. An iteration without an agent has no hooks. Concurrent iterations share one checkpoint, made by the last of
 * them, because until then files may be half-written. In a stopped sprint, the next run does all of this.
 */
export function runHooks(sprint: Sprint, live: LiveIteration, at: number): Decision {
  if (live.attempt === 0) return endIteration(sprint, live, at)
  if (isStopped(sprint)) return { sprint: replaceLive(sprint, { ...live, stage: 'hooks' }), orders: [] }
  const enabled = live.hooks === 'skipped' ? [] : sprint.plan.perIterationHooks.filter((hook) => hook.enabled)
  const sequential = enabled.find((hook) => !hook.parallel && !findHookTask(sprint, live.number, hook.id))
  if (sequential) {
    const waiting = replaceLive(sprint, { ...live, stage: 'hooks' })
    return startHooks(waiting, live.number, [sequential], at)
  }
  const isAlone = sprint.live.every(({ number, stage }) => number === live.number || stage === 'waiting')
  if (sprint.plan.checkpoint !== false && live.stage !== 'checkpoint' && isAlone) {
    const keeping = replaceLive(sprint, { ...live, stage: 'checkpoint' })
    return { sprint: keeping, orders: [{ type: 'make-checkpoint', iteration: live.number }] }
  }
  const parallel = enabled.filter((hook) => hook.parallel)
  const started = startHooks(sprint, live.number, parallel, at)
  return andThen(started.orders, endIteration(started.sprint, live, at, getRemainingPause(live, at)))
}

/** Without a valid report no hook runs, which is recorded; the checkpoint is still made. */
export function endWithoutHooks(sprint: Sprint, live: LiveIteration, at: number, pauseUntil = at): Decision {
  const hasHooks = sprint.plan.perIterationHooks.some((hook) => hook.enabled)
  const closing: LiveIteration = {
    ...live,
    ...(hasHooks && { hooks: 'skipped' }),
    ...(pauseUntil > at && { pauseUntil }),
  }
  return runHooks(sprint, closing, at)
}

function getRemainingPause({ pauseUntil = 0, verdict }: LiveIteration, at: number) {
  if (pauseUntil <= at) return undefined
  return { ms: pauseUntil - at, reason: verdict === 'malformed' ? 'no valid report' : 'too many failed starts' }
}

export function onCheckpointMade(sprint: Sprint, fact: Extract<Fact, { type: 'checkpoint-made' }>): Decision {
  const live = getLiveIteration(sprint, fact.iteration, fact)
  if (live.stage !== 'checkpoint') throw createIllegalFact(sprint, fact, 'no checkpoint is being made')
  return runHooks(sprint, { ...live, ...(fact.commit !== undefined && { checkpoint: fact.commit }) }, fact.at)
}

function startHooks(sprint: Sprint, iteration: number, hooks: readonly Hook[], at: number): Decision {
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
  return { sprint: setHistory(sprint, { hookTasks: trimHookTasks([...sprint.history.hookTasks, ...tasks]) }), orders }
}

/** Shows the process of a hook. It may have ended since. */
export function onHookSpawned(sprint: Sprint, fact: Extract<Fact, { type: 'hook-spawned' }>): Decision {
  const { iteration, hookId, pid } = fact
  const task = findHookTask(sprint, iteration, hookId)
  if (task?.status !== 'running' || task.pid === pid) return { sprint, orders: [] }
  const hookTasks = sprint.history.hookTasks.map((other) => (other === task ? { ...task, pid } : other))
  return { sprint: setHistory(sprint, { hookTasks }), orders: [] }
}

export function onHookEnded(sprint: Sprint, fact: Extract<Fact, { type: 'hook-ended' }>): Decision {
  const task = findHookTask(sprint, fact.iteration, fact.hookId)
  if (task?.status !== 'running') throw createIllegalFact(sprint, fact, `hook ${fact.hookId} is not running`)
  const failed = fact.exitCode !== 0 || fact.error !== undefined
  const ended: HookTask = {
    ...task,
    status: failed ? 'failed' : 'completed',
    ...(task.pid !== undefined && { pid: null }),
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
  const walled = recordWalls(sprint, describeHookWalls(sprint, fact), fact.walls)
  const paid = fact.spent ? addSprintCost(walled, fact.spent) : walled
  const recorded = setHistory(paid, {
    hookTasks: paid.history.hookTasks.map((other) => (other === task ? ended : other)),
  })
  const next = failed ? onFailedHook(recorded, fact) : { sprint: recorded, orders: [] }
  const orders = [endedEvent, ...warnUnpriced(sprint, paid), ...next.orders]
  const live = next.sprint.live.find(({ number, stage }) => number === fact.iteration && stage === 'hooks')
  if (!live) return { sprint: next.sprint, orders }
  return andThen(orders, runHooks(next.sprint, live, fact.at))
}

/** A hook that leaves the cell of the sprint is named. */
function describeHookWalls({ plan }: Sprint, { hookId }: Extract<Fact, { type: 'hook-ended' }>): string {
  const hook = plan.perIterationHooks.find(({ id }) => id === hookId)
  if (hook?.cell === 'none') return `hook ${hookId}`
  return hook?.run === undefined ? 'agents' : 'commands'
}

/** Records a failed hook. It only stops the sprint with `on-fail: block`. */
function onFailedHook(sprint: Sprint, fact: Extract<Fact, { type: 'hook-ended' }>): Decision {
  const onFail = sprint.plan.perIterationHooks.find((hook) => hook.id === fact.hookId)?.onFail
  const output = fact.output ?? fact.error ?? `exit code ${fact.exitCode}`
  if (onFail === 'feed-back') {
    const feedback = [...(sprint.inbox.feedback ?? []), { hookId: fact.hookId, output }]
    return { sprint: setInbox(sprint, { feedback }), orders: [] }
  }
  if (onFail === 'block') {
    return blockByHook(sprint, `hook ${fact.hookId} failed: ${fact.error ?? `exit code ${fact.exitCode}`}`)
  }
  return { sprint, orders: [] }
}

/** Lets the running iteration finish first; an iteration that waits for its next attempt stays as it is. */
function blockByHook(sprint: Sprint, reason: string): Decision {
  if (sprint.status !== 'in-progress' && sprint.status !== 'parked') return { sprint, orders: [] }
  if (sprint.way.concurrent) return scheduleRest(sprint, { status: 'blocked', reason, error: reason })
  if (sprint.live.some(({ stage }) => stage !== 'waiting')) {
    return { sprint: { ...sprint, status: 'blocked', reason }, orders: [] }
  }
  return andThen([{ type: 'abort', what: 'waits' }], restSprint(sprint, 'blocked', reason))
}

export const isHookRunning = (sprint: Sprint, iteration: number): boolean =>
  sprint.history.hookTasks.some((task) => task.iteration === iteration && task.status === 'running')

const findHookTask = (sprint: Sprint, iteration: number, hookId: string): HookTask | undefined =>
  sprint.history.hookTasks.findLast((task) => task.iteration === iteration && task.hookId === hookId)

/** Drops old finished tasks, never a running one. */
function trimHookTasks(tasks: readonly HookTask[]): HookTask[] {
  const surplus = tasks.length - historyLimits.hookTasks
  if (surplus <= 0) return [...tasks]
  return tasks.filter((task, index) => index >= surplus || task.status === 'running')
}
