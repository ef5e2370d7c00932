import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import {
  buildCheck,
  buildHook,
  buildHookTask,
  buildLive,
  answered,
  buildProgress,
  buildReport,
  frozen,
  green,
  noon,
  red,
  started,
  emittedEvents,
  workOrders,
} from '../../test/support/builders.ts'
import type { Edit } from '../contract/edit.ts'
import { FailureClass, noUsage } from '../contract/outcome.ts'
import { Progress, historyLimits, type Step } from '../contract/progress.ts'
import type { Report } from '../contract/report.ts'
import { advance } from './advance.ts'
import { getCheckName } from './core/request-checks.ts'
import type { AttemptEnd, Fact } from './core/fact.ts'
import type { Order } from './core/order.ts'

/** One roll of the dice: which possible fact happens next, and how. */
type Dice = { readonly which: number; readonly how: number; readonly at: number }

/** What a runtime knows: the state, the open orders, and the events so far. */
type World = {
  readonly progress: Progress
  readonly history: readonly Fact[]
  /** An aborted order may still be answered, or never. */
  readonly open: readonly { readonly order: Order; readonly aborted: boolean }[]
  readonly startedIterations: readonly number[]
  readonly endedIterations: readonly number[]
  readonly addedSteps: readonly string[]
  readonly completedSteps: readonly string[]
}

/** Whether the run continues. A blocked sprint finishes its iteration; one without an iteration waits for its baseline. */
const isWorking = ({ status, live }: Progress) =>
  status === 'in-progress' ||
  status === 'parked' ||
  (status === 'blocked' && live.some(({ stage }) => stage !== 'waiting'))

/** An attempt or a hook always reports how it ended. */
const willBeAnswered = ({ order, aborted }: World['open'][number]) =>
  !aborted || order.type === 'run-attempt' || order.type === 'run-hook'

type Possible = { readonly fact?: Fact; readonly answers?: Order; readonly dies?: boolean }

/** Everything that could happen next. Answers are more likely than outside facts. */
function possible({ progress, open }: World, dice: Dice): readonly Possible[] {
  const at = noon + dice.at
  const answers = open.flatMap(({ order, aborted }): Possible[] => [
    { fact: answer(order, progress, { ...dice, at }, aborted), answers: order },
    ...(willBeAnswered({ order, aborted }) ? [] : [{ answers: order }]),
  ])
  const stops = (['iteration', 'turn', 'now'] as const).map((when): Possible => {
    const as = dice.how % 2 === 0 ? 'paused' : 'interrupted'
    return { fact: { type: 'stop-requested', at, as, when } }
  })
  const messages: Possible[] = [
    { fact: { type: 'told', at, text: 'mind the tests', now: dice.how % 2 === 0 } },
    { fact: { type: 'edited', at, edits: [someEdit(progress, dice.how)], refused: [] } },
  ]
  const running = isWorking(progress) || open.length > 0
  return [
    ...Array.from({ length: 6 }, () => answers).flat(),
    ...(running ? [...stops, ...messages, { dies: true }] : [{ fact: started({ at, agents: ['claude', 'codex'] }) }]),
    ...(progress.status === 'needs-human' ? [{ fact: answered('yes') }] : []),
  ]
}

function answer(order: Order, progress: Progress, { how, at }: Dice, aborted: boolean): Fact {
  if (order.type === 'run-attempt') {
    const session = how % 2 === 0 ? 's-1' : undefined
    const end = aborted && how % 3 > 0 ? { kind: 'aborted' as const, session } : attemptEnd(progress, how)
    const costUsd = how % 7 === 0 ? undefined : 0.01
    const usage = { ...noUsage, inputTokens: 1 }
    return { ...order, type: 'attempt-ended', at, end, usage, costUsd, changed: how % 4 > 0, random: 0.5 }
  }
  if (order.type === 'run-checks') {
    const results = order.names.map((name, n) => ((how >> n) % 2 === 0 ? green(name) : red(name)))
    return { type: 'checks-ended', at, iteration: order.iteration, results }
  }
  if (order.type === 'run-hook') {
    const end = aborted ? { exitCode: null, error: 'aborted' } : { exitCode: how % 2 }
    return { ...order, type: 'hook-ended', at, ...end }
  }
  if (order.type === 'run-review') {
    return { type: 'review-ended', at, iteration: order.iteration, passed: how % 2 === 0, summary: 'looked' }
  }
  if (order.type === 'make-checkpoint') {
    return { type: 'checkpoint-made', at, iteration: order.iteration, commit: how % 2 === 0 ? 'c0ffee' : undefined }
  }
  if (order.type === 'wait') return { type: 'wait-ended', at, iteration: order.iteration }
  if (order.type === 'notify') return { type: 'notified', at, results: [] }
  throw new Error(`${order.type} is not answered in a goal-driven sprint`)
}

function someEdit({ dynamicSteps }: Progress, how: number): Edit {
  const id = dynamicSteps[how % (dynamicSteps.length + 1)]?.id ?? 'unknown'
  const edits: readonly Edit[] = [
    { kind: 'step-added', prompt: 'x' },
    { kind: 'step-completed', id },
    { kind: 'step-reworded', id, prompt: 'y' },
    { kind: 'steps-ordered', ids: [id, 'unknown'] },
    { kind: 'pause' },
    { kind: 'needs-human', reason: 'which one?', details: '' },
  ]
  return edits[(how >> 4) % edits.length] ?? { kind: 'pause' }
}

function attemptEnd(progress: Progress, how: number): AttemptEnd {
  const kind = how % 10
  const rest = (how - kind) / 10
  if (kind === 0) return { kind: 'malformed', reason: 'no report', session: rest % 2 === 0 ? 'session' : undefined }
  if (kind > 2) return { kind: 'report', report: someReport(progress, rest) }
  const failure = FailureClass.options[rest % FailureClass.options.length] ?? 'crash'
  const resetsAt = rest % 2 === 0 ? noon + how : undefined
  return { kind: 'failed', class: failure, reason: failure, retryable: rest % 7 > 0, resetsAt }
}

/** Names known, unknown, new and repeated steps. */
function someReport({ dynamicSteps, stats }: Progress, how: number): Report {
  const ids = [...dynamicSteps.map(({ id }) => id), `step-${stats.totalSteps}`, 'unknown']
  const id = (n: number) => ids[(how >> n) % ids.length] ?? 'unknown'
  const steps = {
    completedStepIds: how % 2 === 0 ? [id(1), id(2), id(1)] : [],
    pendingSteps: [id(3), how % 3 === 0 ? null : id(4), null, id(3)]
      .slice(how % 5)
      .map((of) => ({ id: of, prompt: 'x' })),
  }
  const status = (['continue', 'continue', 'goal-complete', 'goal-complete', 'needs-human'] as const)[how % 5]
  return buildReport({ ...steps, status: status ?? 'continue' })
}

const newWorld = (progress: Progress): World => ({
  progress,
  open: [],
  history: [],
  startedIterations: [],
  endedIterations: [],
  addedSteps: [],
  completedSteps: [],
})

function applyDice(world: World, dice: Dice): World {
  const choices = possible(world, dice)
  const { fact, answers, dies } = choices[dice.which % choices.length] ?? {}
  if (dies) return applyFact({ ...world, open: [] }, started({ at: noon + dice.at }))
  const open = answers ? world.open.filter(({ order }) => order !== answers) : world.open
  return fact ? applyFact({ ...world, open }, fact) : { ...world, open }
}

/** One transition, with everything that must hold after any transition. */
function applyFact(before: World, fact: Fact): World {
  const history = [...before.history, fact]
  try {
    const { progress, orders } = advance(frozen(before.progress), frozen(fact))
    const after = { ...recordTransition(before, progress, orders), history }
    assertHolds('grow rev by one', progress.rev === before.progress.rev + 1)
    assertCounts(after)
    assertHonestFinish(progress)
    assertOrders(before, after, { fact, orders })
    return after
  } catch (cause) {
    throw new Error(`after\n${history.map((one) => JSON.stringify(one)).join('\n')}`, { cause })
  }
}

/** Not `expect`: called some hundred thousand times. */
function assertHolds(what: string, holds: boolean): void {
  if (!holds) throw new Error(`it must ${what}`)
}

const abortedBy: Partial<Record<Order['type'], string>> = { wait: 'waits', 'run-attempt': 'attempts' }

function recordTransition(before: World, progress: Progress, orders: readonly Order[]): World {
  const events = emittedEvents(orders)
  const abort = orders.find((order) => order.type === 'abort')?.what
  const kept = before.open.map(({ order, aborted }) => ({
    order,
    aborted: aborted || abort === 'all' || (abort !== undefined && abort === abortedBy[order.type]),
  }))
  const added = workOrders(orders).filter(({ type }) => type !== 'abort')
  const of = <T>(pick: (event: (typeof events)[number]) => readonly T[]) => events.flatMap((event) => pick(event))
  return {
    ...before,
    progress,
    open: [...kept, ...added.map((order) => ({ order, aborted: false }))],
    startedIterations: [
      ...before.startedIterations,
      ...of((event) => (event.type === 'iteration-started' ? [event.iteration] : [])),
    ],
    endedIterations: [
      ...before.endedIterations,
      ...of((event) => (event.type === 'iteration-ended' ? [event.iteration] : [])),
    ],
    addedSteps: [...before.addedSteps, ...fresh(before.addedSteps, listIds(progress))],
    completedSteps: [...before.completedSteps, ...fresh(before.completedSteps, listIds(progress, 'completed'))],
  }
}

const listIds = ({ dynamicSteps }: Progress, status?: Step['status']) =>
  dynamicSteps.filter((step) => status === undefined || step.status === status).map(({ id }) => id)

/** In the order of their numbers. */
const fresh = (known: readonly string[], ids: readonly string[]) =>
  ids.filter((id) => !known.includes(id)).toSorted((a, b) => Number(a.slice(5)) - Number(b.slice(5)))

const same = (a: readonly unknown[], b: readonly unknown[]) => a.join() === b.join()
const unique = (values: readonly unknown[]) => new Set(values).size === values.length
const upTo = (count: number, from: number) => Array.from({ length: count }, (_, n) => from + n)

function assertCounts({ progress, ...seen }: World): void {
  const { stats, live, iterations, hookTasks } = progress
  const numbers = [...seen.endedIterations, ...live.map(({ number }) => number)].toSorted((a, b) => a - b)
  const ids = listIds(progress)

  assertHolds('number iterations 1, 2, 3 …', same(seen.startedIterations, upTo(stats.currentIteration, 1)))
  assertHolds('end each iteration once', same(numbers, seen.startedIterations))
  assertHolds(
    'never use an id twice',
    same(
      seen.addedSteps,
      upTo(stats.totalSteps, 0).map((n) => `step-${n}`),
    ),
  )
  assertHolds('lose no step', unique(ids) && same(ids.toSorted(), seen.addedSteps.toSorted()))
  assertHolds(
    'complete a step once and for ever',
    same(listIds(progress, 'completed').toSorted(), seen.completedSteps.toSorted()),
  )
  assertHolds('count completed steps', stats.completedSteps === seen.completedSteps.length)
  assertHolds('bound its history', iterations.length <= historyLimits.iterations)
  assertHolds(
    'bound the hook tasks',
    hookTasks.length <= historyLimits.hookTasks + hookTasks.filter(({ status }) => status === 'running').length,
  )
}

function assertHonestFinish({ status, iterations, ralph, ralphExit, doneWhen = [] }: Progress): void {
  if (status !== 'completed') return
  const { number, verdict, checks = [] } = iterations.at(-1) ?? {}
  assertHolds('be completed by an accepted claim', verdict === 'accepted' && number === ralphExit.iteration)
  assertHolds('respect min-iterations', (number ?? 0) >= ralph.minIterations)
  assertHolds(
    'see every check green',
    doneWhen.every((check) => checks.some(({ name, passed }) => passed && name === getCheckName(check))),
  )
}

type AppliedFact = { readonly fact: Fact; readonly orders: readonly Order[] }

function assertOrders(before: World, after: World, { fact, orders }: AppliedFact): void {
  const open = after.open
    .filter((one) => willBeAnswered(one) && one.order.type !== 'notify')
    .map(({ order }) => JSON.stringify(order))
  const attempts = after.open.flatMap(({ order }) => (order.type === 'run-attempt' ? [order.iteration] : []))
  const rested = emittedEvents(orders).flatMap((event) => (event.type === 'sprint-rested' ? [event.status] : []))
  assertHolds('order nothing twice', unique(open))
  assertHolds('have one live attempt per iteration', unique(attempts))
  assertHolds(
    'begin nothing once it is to stop',
    !before.progress.stopRequested ||
      fact.type === 'started' ||
      !emittedEvents(orders).some(({ type }) => type === 'iteration-started'),
  )

  if (isWorking(after.progress)) {
    assertHolds('not say that it rests while it works', rested.length === 0)
    assertHolds(
      'go on with every iteration',
      after.progress.live.every((live) => open.some((order) => order.startsWith(getRequiredOrder(live)))),
    )
    return
  }
  if (isWorking(before.progress) || fact.type === 'started') {
    assertHolds('say that it rests', same(rested, [after.progress.status]))
  }
  const ordered = workOrders(orders).filter(({ type }) => type !== 'abort' && type !== 'notify')
  assertHolds(
    'order no work at rest',
    ordered.every(({ type }) => type === 'run-hook'),
  )
  assertHolds(
    'order nothing new at rest',
    isWorking(before.progress) || fact.type === 'started' || ordered.length === 0,
  )
}

/** The order that must be open in this stage; otherwise the iteration would never continue. */
function getRequiredOrder({ stage, number: iteration }: Progress['live'][number]): string {
  const types: Readonly<Record<string, Order['type']>> = {
    agent: 'run-attempt',
    waiting: 'wait',
    checks: 'run-checks',
    review: 'run-review',
    hooks: 'run-hook',
    checkpoint: 'make-checkpoint',
  }
  const type = types[stage]
  return JSON.stringify({ type, iteration }).slice(0, -1)
}

const setup = fc.record({
  idleThreshold: fc.integer({ min: 1, max: 3 }),
  minIterations: fc.integer({ min: 0, max: 4 }),
  /** Whether each check runs after every iteration. */
  checks: fc.array(fc.boolean(), { maxLength: 2 }),
  hooks: fc.array(
    fc.record({
      parallel: fc.boolean(),
      onFail: fc.constantFrom('record', 'feed-back', 'block'),
      enabled: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  iterations: fc.option(fc.integer({ min: 1, max: 40 }), { nil: 'off' as const }),
  reviews: fc.boolean(),
  checkpoint: fc.boolean(),
  notifies: fc.boolean(),
  /** Whether the history is already at its maximum size. */
  old: fc.nat(7).map((n) => n === 0),
})
type Setup = typeof setup extends fc.Arbitrary<infer T> ? T : never

function createSprint(chosen: Setup): Progress {
  const { baseline: _known, ...unmeasured } = buildProgress({
    ralph: { idleThreshold: chosen.idleThreshold, minIterations: chosen.minIterations },
    limits: { iterations: chosen.iterations },
    doneWhen: chosen.checks.map((eachIteration, n) => buildCheck({ run: `check ${n}`, eachIteration })),
    perIterationHooks: chosen.hooks.map((hook, n) => buildHook({ id: `hook ${n}`, ...hook })),
    checkpoint: chosen.checkpoint,
    ...(chosen.notifies && { notify: ['desktop'] }),
    ...(chosen.reviews && { review: { agent: 'codex' } }),
    ...(chosen.old && { hookTasks: oldTasks, iterations: oldIterations }),
  })
  return unmeasured
}

const oldTasks = Array.from({ length: historyLimits.hookTasks }, () => buildHookTask({ iteration: 0 }))
const oldIterations = Array.from({ length: historyLimits.iterations }, () => {
  const { stage: _stage, attempt: attempts, ...live } = buildLive({ number: 0 })
  return { ...live, attempts, verdict: 'continue' as const, endedAt: noon }
})

const dice = fc.record({ which: fc.nat(), how: fc.nat(), at: fc.nat(1e9) })

it('keeps its invariants for any sequence of facts', () => {
  const statuses = new Set<string>()
  fc.assert(
    fc.property(setup, fc.array(dice, { minLength: 20, maxLength: 80 }), (chosen, throws) => {
      const times = throws.map(({ at }) => at).toSorted((a, b) => a - b)
      const end = throws.reduce(
        (world, thrown, n) => {
          const next = applyDice(world, { ...thrown, at: times[n] ?? 0 })
          statuses.add(next.progress.status)
          return next
        },
        newWorld(createSprint(chosen)),
      )

      // A thousand old tasks make this slow and add nothing.
      const small = { ...end.progress, hookTasks: end.progress.hookTasks.slice(-20) }
      expect(z.decode(Progress, z.encode(Progress, small))).toEqual(small)
    }),
    { seed: 20_260_118, numRuns: 1000 },
  )
  expect([...statuses].toSorted()).toEqual([
    'blocked',
    'completed',
    'failed',
    'in-progress',
    'interrupted',
    'limit-reached',
    'needs-human',
    'parked',
    'paused',
  ])
}, 60_000)
