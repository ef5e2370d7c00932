import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { buildHook, answered, frozen, green, noon, red, started } from '../../../../test/support/builders.ts'
import { buildGate, buildItem, buildPart, buildPhase, buildStandard, forEach } from '../../../../test/support/phases.ts'
import { FailureClass, noUsage } from '../../../contract/outcome.ts'
import type { CompiledStep, CompiledSubPhase, WorkRef } from '../../../contract/phases.ts'
import { Progress } from '../../../contract/progress.ts'
import { advance } from '../../advance.ts'
import type { AttemptEnd, Fact } from '../../core/fact.ts'
import type { Order } from '../../core/order.ts'
import { fromProgress } from '../../progress-codec.ts'
import { getMaxConcurrency } from './next-work.ts'
import { isFinished } from './units.ts'
import { formatWorkRef } from './work.ts'

const flow = fc.record(
  {
    parallel: fc.boolean(),
    waitForParallel: fc.boolean(),
    break: fc.constant(true),
    gate: fc.integer({ min: 1, max: 3 }).map((tries) => buildGate(tries)),
  },
  { requiredKeys: [] },
)

const prompting = flow.map((settings) => (id: string) => buildPhase(id, settings))

/** Items depend on each other only along a fixed hidden order, so that there is no cycle. */
const items = fc
  .array(
    fc.record({ parts: fc.array(flow, { minLength: 1, maxLength: 3 }), on: fc.array(fc.nat(5), { maxLength: 2 }) }),
    {
      maxLength: 6,
    },
  )
  .chain((drawn) =>
    fc
      .shuffledSubarray(
        drawn.map((_, index) => index),
        { minLength: drawn.length },
      )
      .map((order) => order.map((rank) => createItem(drawn[rank], rank))),
  )

function createItem(
  drawn: { readonly parts: readonly Partial<CompiledSubPhase>[]; readonly on: readonly number[] } | undefined,
  rank: number,
): CompiledStep {
  const dependsOn = [...new Set(drawn?.on)].filter((other) => other < rank).map((other) => `i${other}`)
  const phases = (drawn?.parts ?? []).map((settings, index) => buildPart(`p${index}`, settings))
  return buildItem(`i${rank}`, { phases, ...(dependsOn.length > 0 && { dependsOn }) })
}

const working = fc.tuple(items, flow).map(
  ([steps, phaseSettings]) =>
    (id: string) =>
      forEach(id, steps, phaseSettings),
)

const hooks = [
  buildHook({ id: 'lint' }),
  buildHook({ id: 'strict', onFail: 'block' }),
  buildHook({ id: 'learn', parallel: true, onFail: 'feed-back' }),
]

const retry: Progress['retry'] = { maxAttempts: 2, backoffMs: [10], retryOn: ['logic', 'validation'] }

const sprint = fc
  .record({
    phases: fc.array(fc.oneof(prompting, working), { minLength: 1, maxLength: 4 }),
    maxConcurrency: fc.integer({ min: 1, max: 4 }),
    onDependencyFailure: fc.constantFrom('skip-dependents' as const, 'fail-phase' as const, 'continue' as const),
    retry: fc.option(fc.constant(retry), { nil: undefined }),
    checked: fc.boolean(),
    checkpoint: fc.boolean(),
    hooks: fc.subarray(hooks),
  })
  .map(
    ({ phases, maxConcurrency, onDependencyFailure, retry: chosen, checked, checkpoint, hooks: perIterationHooks }) =>
      buildStandard(
        phases.map((make, index) => make(`ph${index}`)),
        {
          parallelExecution: { enabled: true, maxConcurrency, onDependencyFailure },
          checkpoint,
          perIterationHooks,
          ...(chosen && { retry: chosen }),
          ...(checked && {
            doneWhen: [{ run: 'make test', timeout: 1, eachIteration: false, protect: false }],
            baseline: [],
          }),
        },
      ),
  )

/** One roll of the dice: which open order is answered, and how well. */
type Dice = { readonly which: number; readonly how: number }
const luck = fc.array(fc.record({ which: fc.nat(1000), how: fc.nat(1000) }), { maxLength: 60 })

/** What a runtime knows: the state, the open orders, and the events so far. */
type World = { progress: Progress; open: Order[]; completed: string[]; at: number }

/** Everything succeeds from here on. */
const well: Dice = { which: 0, how: 999 }

function answer(order: Order, { how }: Dice, at: number): Fact {
  switch (order.type) {
    case 'run-attempt': {
      const { iteration, attempt } = order
      return {
        type: 'attempt-ended',
        at,
        iteration,
        attempt,
        end: attemptEnd(how),
        usage: noUsage,
        costUsd: 0,
        random: 0.5,
      }
    }
    case 'run-gate':
      return {
        type: 'gate-ended',
        at,
        iteration: order.iteration,
        exitCode: how % 3 === 0 ? 0 : how > 500 ? 0 : 1,
        output: 'o',
      }
    case 'run-checks':
      return {
        type: 'checks-ended',
        at,
        iteration: order.iteration,
        results: order.names.map((name) => (how > 300 ? green(name) : red(name))),
      }
    case 'run-hook':
      return { ...order, type: 'hook-ended', at, exitCode: how > 100 ? 0 : 1 }
    case 'make-checkpoint':
      return { type: 'checkpoint-made', at, iteration: order.iteration, commit: 'c0ffee' }
    case 'wait':
      return { type: 'wait-ended', at, iteration: order.iteration }
    case 'run-review':
    case 'clean-worktree':
    case 'notify':
    case 'abort':
    case 'tell':
      throw new Error(`${order.type} is not expected`)
  }
}

function attemptEnd(how: number): AttemptEnd {
  const summary = 's'
  if (how > 400) return { kind: 'phase-report', report: { status: 'completed', summary } }
  if (how > 250) return { kind: 'phase-report', report: { status: 'failed', summary, error: 'boom' } }
  if (how > 200) {
    const humanNeeded = { reason: 'which?', details: '' }
    return { kind: 'phase-report', report: { status: 'needs-human', summary, humanNeeded } }
  }
  if (how > 150) return { kind: 'malformed', reason: 'no report', session: how % 2 === 0 ? 'session' : undefined }
  const failure = FailureClass.options[how % FailureClass.options.length] ?? 'crash'
  return { kind: 'failed', class: failure, reason: failure, retryable: true, exitCode: how % 2 === 0 ? 1 : undefined }
}

function applyFact(world: World, fact: Fact): void {
  const { progress, orders } = advance(frozen(world.progress), fact)
  world.progress = progress
  for (const order of orders) note(world, order)
  const names = progress.live.map(({ work }) => (work ? formatWorkRef(work) : ''))
  assertHolds(names.length <= getMaxConcurrency(fromProgress(progress)), 'no more are at work than may be')
  assertHolds(new Set(names).size === names.length, `each is worked on by one: ${names.join()}`)
  const { completedPhases, completedSteps } = progress.stats
  const counted = countUnits(progress)
  assertHolds(
    completedPhases === counted.phases && completedSteps === counted.steps,
    'the statistics count what is completed',
  )
}

function note(world: World, order: Order): void {
  if (order.type === 'abort') {
    world.open = world.open.filter((open) =>
      order.what === 'attempts' ? true : order.what === 'waits' && open.type !== 'wait',
    )
  } else if (order.type !== 'tell') {
    const others = world.progress.live.filter(({ stage }) => stage !== 'waiting')
    if (order.type === 'make-checkpoint') assertHolds(others.length === 1, 'what is kept is not half done')
    world.open.push(order)
  } else if (order.event.type === 'iteration-started') assertMayStart(order.event.work, world.progress)
  else if (order.event.type === 'work-ended' && order.event.status === 'completed') {
    world.completed.push(formatWorkRef(order.event.work))
  }
}

function assertHolds(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`it does not hold that ${what}`)
}

/** Nothing starts before its dependencies. */
function assertMayStart(ref: WorkRef | undefined, { phases = [], parallelExecution }: Progress): void {
  if (!ref) return
  const index = phases.findIndex(({ id }) => id === ref.phase)
  const before = phases.slice(0, index).filter((phase) => !isFinished(phase))
  assertHolds(
    before.every(({ parallel, steps }) => parallel === true && steps === undefined),
    'earlier phases are over',
  )
  assertHolds(phases[index]?.waitForParallel !== true || before.length === 0, 'parallel phases are waited for')
  const steps = phases[index]?.steps ?? []
  const step = steps.find(({ id }) => id === ref.step)
  const goesOn = parallelExecution?.onDependencyFailure === 'continue'
  const isMet = ({ status }: CompiledStep) => status === 'completed' || (goesOn && status === 'failed')
  assertHolds(
    steps.filter(({ id }) => step?.dependsOn?.includes(id)).every(isMet),
    `${formatWorkRef(ref)} has what it depends on`,
  )
  const parts = step?.phases ?? []
  const position = parts.findIndex(({ id }) => id === ref.subPhase)
  assertHolds(
    parts.slice(0, position).every((part) => isFinished(part) || part.parallel === true),
    'earlier parts of an item are over',
  )
}

function countUnits({ phases = [] }: Progress) {
  const steps = phases.flatMap((phase) => phase.steps ?? [])
  const parts = steps.flatMap((step) => step.phases)
  const isCompleted = ({ status }: { readonly status: string }) => status === 'completed'
  return { phases: [...phases, ...parts].filter(isCompleted).length, steps: steps.filter(isCompleted).length }
}

/** One run: orders are answered in any order until none is open, unless the run is stopped or killed. */
function run(world: World, throws: Dice[]): void {
  applyFact(world, started({ at: ++world.at, agents: ['claude'] }))
  for (let facts = 0; world.open.length > 0; facts++) {
    assertHolds(facts < 2000, 'a run comes to rest')
    const dice = throws.shift() ?? well
    if (dice.how % 50 === 7) {
      world.open = []
      return
    }
    if (dice.how % 20 === 3) {
      const when = (['iteration', 'turn', 'now'] as const)[dice.which % 3] ?? 'now'
      applyFact(world, { type: 'stop-requested', at: ++world.at, as: 'paused', when })
      continue
    }
    const [order] = world.open.splice(dice.which % world.open.length, 1)
    const fact = order && answer(order, dice, ++world.at)
    if (fact) applyFact(world, fact)
  }
  assertHolds(
    !['in-progress', 'parked'].includes(world.progress.status),
    `it rests, and says so: ${world.progress.status}`,
  )
}

it('every graph of phases comes to rest, does all work once, in order, in parallel up to the limit, with correct counts', () => {
  fc.assert(
    fc.property(sprint, luck, (progress, dice) => {
      const world: World = { progress, open: [], completed: [], at: noon }
      const throws = [...dice]
      for (let runs = 0; world.progress.status !== 'completed'; runs++) {
        assertHolds(runs < 100, 'it is completed some time, if all goes well')
        run(world, throws)
        if (world.progress.status === 'needs-human') applyFact(world, answered('that one'))
      }
      expect(z.decode(Progress, z.encode(Progress, world.progress))).toEqual(world.progress)
      expect(world.completed.toSorted()).toEqual(namesIn(world.progress).toSorted())
    }),
    { seed: 20_261_115, numRuns: 200 },
  )
})

const namesIn = ({ phases = [] }: Progress): string[] =>
  phases.flatMap(({ id, steps = [] }) => [
    id,
    ...steps.flatMap((step) => [`${id}/${step.id}`, ...step.phases.map((part) => `${id}/${step.id}/${part.id}`)]),
  ])
