import type { CompiledPhase, CompiledStep, WorkRef } from '../../contract/phases.ts'
import type { Progress } from '../../contract/progress.ts'
import { chooseAgent } from '../agents.ts'
import { thenChecks } from '../checks.ts'
import { addIteration, openIteration } from '../iteration.ts'
import { reachedLimit } from '../limits.ts'
import { andThen, type Transition } from '../order.ts'
import { comeToRest, rest, restAs } from '../rest.ts'
import { agentsFor } from './choice.ts'
import { startGate } from './gate.ts'
import { nextDue, roomFor, type Due } from './next-work.ts'
import { hasFailed, isOver } from './units.ts'
import { completeWork } from './work-ended.ts'
import { withCurrent, withPhase, withStep, withWork, workAt } from './work.ts'

/** Runs after every fact: a sprint that is about to rest does so once nothing runs; otherwise everything that may start starts. */
export function proceed(progress: Progress, at: number): Transition {
  const { status, humanNeeded } = progress
  if (status !== 'in-progress' && status !== 'parked') return { progress, orders: [] }
  const asked = humanNeeded && comeToRest(progress, { status: 'needs-human', reason: humanNeeded.reason })
  const known = asked?.progress ?? progress
  if (known.ending || known.stopRequested) return restWhenQuiet(known, at)
  if (status === 'parked' || isBaselineDue(known) || isKeeping(known)) return { progress: known, orders: [] }
  const next = beginAll(known, at)
  return next.progress.ending ? andThen(next.orders, restWhenQuiet(next.progress, at)) : next
}

/** The checks must run once before any change. */
export const isBaselineDue = ({ doneWhen = [], baseline, stats, live }: Progress): boolean =>
  live.length === 0 && doneWhen.length > 0 && !baseline && stats.currentIteration === 0

/** A checkpoint is being made, so files must not change. */
const isKeeping = ({ live }: Progress): boolean => live.some(({ stage }) => stage === 'checkpoint')

/** Iterations that wait for their next attempt stay as they are; after a turn, so do gates, checks and hooks. */
function restWhenQuiet(progress: Progress, at: number): Transition {
  const { ending, stopRequested, live } = progress
  const afterTurn = stopRequested?.when === 'turn'
  if (isBaselineDue(progress)) return { progress, orders: [] }
  if (live.some(({ stage }) => (afterTurn ? stage === 'agent' : stage !== 'waiting'))) return { progress, orders: [] }
  const waits = live.some(({ stage }) => stage === 'waiting') ? [{ type: 'abort', what: 'waits' } as const] : []
  if (ending && live.every(({ stage }) => stage === 'waiting'))
    return andThen(waits, restAsPlanned(progress, ending, at))
  return stopRequested ? andThen(waits, restAs(progress, stopRequested.as)) : { progress, orders: [] }
}

function restAsPlanned(progress: Progress, ending: NonNullable<Progress['ending']>, at: number): Transition {
  const { ending: _ending, ...kept } = progress
  const { status, reason, phase, error } = ending
  const told: Progress = {
    ...kept,
    ...(status === 'blocked' && { blockedAt: at, ...(phase !== undefined && { failedPhase: phase }), error }),
    ...(status === 'paused-at-breakpoint' && { breakpointPhaseId: phase }),
    ...(status === 'completed' && { stats: { ...kept.stats, completedAt: at } }),
  }
  return rest(told, status, reason)
}

function beginAll(progress: Progress, at: number): Transition {
  let so: Transition = { progress, orders: [] }
  while (!so.progress.ending && so.progress.live.length < roomFor(so.progress)) {
    const due = nextDue(so.progress)
    if (!due) break
    so = andThen(so.orders, begin(so.progress, due, at))
  }
  if (so.progress.ending || so.progress.live.length > 0) return so
  return andThen(so.orders, finish(so.progress, at))
}

function begin(progress: Progress, { ref, what }: Due, at: number): Transition {
  if (what === 'nothing') return completeWork(progress, ref, { at })
  if (what === 'gate') {
    const given = { mode: 'executing', step: idOf(ref), work: ref, stage: 'gate', attempt: 0 } as const
    const added = addIteration(marked(progress, ref, at), given, at)
    return startGate(added.progress, added.live, ref)
  }
  const limit = reachedLimit(progress)
  if (limit) return comeToRest(progress, { status: 'limit-reached', reason: limit })
  const { nextRetryAt = at, gate, error = '', ...work } = workAt(progress, ref)
  const prompt = ref.gateFix === undefined ? work.prompt : gate?.onFailPrompt
  const { agent } = chooseAgent(progress, at, agentsFor(progress, ref))
  const opening = {
    mode: 'executing',
    step: idOf(ref),
    work: ref,
    ...(prompt !== undefined && { stepPrompt: prompt }),
    ...(agent !== undefined && { agent }),
    ...(nextRetryAt > at && { wait: { until: nextRetryAt, reason: error } }),
  } as const
  return openIteration(marked(progress, ref, at), opening, at)
}

/** The value of `$PHASE_ID` in hooks. */
const idOf = ({ phase, step }: WorkRef): string => step ?? phase

/** Marks the work as in progress, together with its item and phase. */
function marked(progress: Progress, ref: WorkRef, at: number): Progress {
  const atWork = <U extends CompiledPhase | CompiledStep>(unit: U): U => ({
    ...unit,
    status: 'in-progress',
    startedAt: unit.startedAt ?? at,
  })
  const withinPhase = withPhase(progress, ref.phase, atWork)
  const withinStep = ref.step === undefined ? withinPhase : withStep(withinPhase, ref, atWork)
  return withCurrent(
    withWork(withinStep, ref, (work) => ({
      ...work,
      status: 'in-progress',
      startedAt: work.startedAt ?? at,
    })),
  )
}

/** Nothing runs and nothing can start: either all phases are completed, or something blocks them. */
function finish(progress: Progress, at: number): Transition {
  const { phases = [], doneWhen = [], review } = progress
  const open = phases.find((phase) => hasFailed(phase)) ?? phases.find((phase) => !isOver(phase))
  if (open) {
    const { id: phase, error = 'nothing of it can begin' } = open
    return comeToRest(progress, { status: 'blocked', reason: `phase ${phase} failed: ${error}`, phase, error })
  }
  if (doneWhen.length === 0 && !review) return comeToRest(progress, { status: 'completed' })
  const { refusedBy: _before, ...kept } = progress
  const summary = 'all phases are completed'
  const given = { mode: 'executing', stage: 'checks', attempt: 0, summary, goalCompleteSummary: summary } as const
  const added = addIteration(kept, given, at)
  return thenChecks(added.progress, added.live, at)
}
