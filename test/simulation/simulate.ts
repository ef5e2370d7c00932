import type { Edit } from '../../src/contract/edit.ts'
import type { Progress } from '../../src/contract/progress.ts'
import { advance } from '../../src/loop/advance.ts'
import type { Fact } from '../../src/loop/core/fact.ts'
import { isDiskFullError } from '../../src/runtime/disk-space.ts'
import { checkAttempts, type AttemptFolderState } from '../../src/doctor/attempt-invariants.ts'
import { checkInvariants } from '../../src/doctor/invariants.ts'
import type { Ports } from '../../src/runtime/ports.ts'
import { runSprint, type SprintRun } from '../../src/runtime/run-sprint.ts'
import { createPorts } from './ports.ts'
import { createRandom, deriveSeed, type Random } from './random.ts'
import { createSprint } from './sprints.ts'
import { settle } from './timeline.ts'
import { createWorld, crashSoon, type Life, type RecoveryResult, type Rules, type World } from './world.ts'

/** A part of the program with a deliberate mistake. */
export type Mutant = {
  readonly rules?: Rules
  readonly ports?: (ports: Ports, world: World, life: Life) => Ports
  readonly recovered?: (recovered: RecoveryResult, world: World) => RecoveryResult
}

export type SimulationResult = {
  readonly violations: readonly string[]
  readonly lives: number
  readonly crashes: number
  readonly iterations: number
  readonly status: Progress['status']
}

const maxWildRuns = 3
const calmRuns = 30
const maxRunMs = 4000

/** One sprint with everything that can go wrong, then in calm weather until it is done. The same seed gives the same run. */
export async function simulate(seed: number, mutant: Mutant = {}): Promise<SimulationResult> {
  const rules = mutant.rules ?? advance
  const world = createWorld(seed, rules)
  const { journal, violations } = world
  journal.begin(createSprint(createRandom(deriveSeed(seed, 'sprint'))))
  const wildLives = 1 + world.random.below(maxWildRuns)
  let lives = 0
  let crashes = 0
  let last: 'rested' | 'crashed' = 'crashed'
  while (lives < wildLives + calmRuns && violations.length === 0) {
    world.calm = lives >= wildLives
    const recovered = recover(world)
    if (!recovered) break
    if (world.calm && last === 'rested' && isOver(recovered.progress)) break
    lives++
    last = await live(world, mutant.recovered?.(recovered, world) ?? recovered, mutant)
    if (last === 'crashed') crashes++
  }
  const { progress } = journal.acknowledged()
  if (violations.length === 0) judge(world, rules)
  return { violations, lives, crashes, iterations: progress.stats.currentIteration, status: progress.status }
}

/** What the next run finds. It must know about everything that was done. */
function recover(world: World): RecoveryResult | undefined {
  const { journal, violate } = world
  try {
    const recovered = journal.recover()
    for (const { invariant, level, text } of checkAttempts(recovered.progress, {
      attempts: listFolders(world),
      isRunning: false,
    })) {
      if (level === 'broken') violate(invariant, text)
    }
    return recovered
  } catch (error) {
    violate('I8', `the journal cannot be read: ${String(error)}`)
    return undefined
  }
}

const isOver = ({ status }: Progress): boolean => status === 'completed' || status === 'limit-reached'

/** The rules that must hold when everything is over. */
function judge(world: World, rules: Rules): void {
  const { journal, violate } = world
  const { findings } = checkInvariants(
    { entries: journal.entries, shown: journal.shown, attempts: listFolders(world), isRunning: false },
    rules,
  )
  for (const { invariant, text } of findings) violate(invariant, text)
  const { progress } = journal.acknowledged()
  if (!isOver(progress))
    violate('I13', `the sprint does not come to its end: ${progress.status}: ${progress.reason ?? ''}`)
  const { iterations } = progress.limits
  if (iterations !== 'off' && progress.stats.currentIteration > iterations)
    violate('I11', `over ${iterations} iterations`)
  const { iteration } = progress.ralphExit
  const checked = (progress.doneWhen ?? []).length > 0
  if (progress.status === 'completed' && checked && !(iteration !== null && world.green.has(iteration))) {
    violate('claim', `iteration ${iteration} was accepted, but its checks were not green`)
  }
}

const listFolders = ({ attempts }: World): AttemptFolderState[] =>
  [...attempts.values()].map(({ name, state, alive }) => ({ name, state: alive ? 'running' : state }))

/** One run, until it rests or is killed. */
async function live(world: World, recovered: RecoveryResult, mutant: Mutant): Promise<'rested' | 'crashed'> {
  const { timeline, random, journal, calm } = world
  const rules = mutant.rules ?? advance
  const life: Life = {
    dead: false,
    operations: 0,
    crashAt: calm ? Number.POSITIVE_INFINITY : 1 + random.below(random.pick([15, 60, 200])),
    crash: random.chance(0.85) ? 'process' : 'machine',
  }
  timeline.at(timeline.now() + random.below(100_000), () => {})
  timeline.step()
  journal.open(recovered)
  const ports = withWitness(world, createPorts(world, life))
  const progress = answer(world, recovered.progress, rules)
  const first: Fact = {
    type: 'started',
    at: timeline.now(),
    agents: ['first', 'second'].slice(0, 1 + (world.seed % 2)),
  }
  const run = runSprint(progress, mutant.ports?.(ports, world, life) ?? ports, first, rules)
  if (!calm) disturb(world, life, run)
  if (!calm && random.chance(0.5)) crashSoon(world, life, 300_000)
  const error = await drive(world, life, run)
  if (life.dead) return 'crashed'
  if (error !== undefined) {
    // Given up because the user stopped it while the disk was full: equivalent to a kill.
    const why = error instanceof Error ? error.message : 'for no reason'
    if (!isDiskFullError(error)) world.violate('run', `it has failed: ${why}`)
    life.dead = true
    journal.crash(random)
    return 'crashed'
  }
  journal.shown = journal.acknowledged().progress
  // Gives what should be over by now a moment to end.
  timeline.at(timeline.now() + 10, () => (life.dead = true))
  while (!life.dead && timeline.step()) await settle()
  atRest(world)
  return 'rested'
}

/** Checks independently whether the checks of an iteration have passed. */
function withWitness(world: World, ports: Ports): Ports {
  return {
    ...ports,
    shell: {
      run: async (request, signal) => {
        const end = await ports.shell.run(request, signal)
        const iteration = /^(\d+)-check-/.exec(request.attempt)?.[1]
        if (iteration !== undefined) {
          if (end.exitCode === 0 && end.error === undefined) world.green.add(Number(iteration))
          else world.green.delete(Number(iteration))
        }
        return end
      },
    },
  }
}

function atRest({ attempts, journal, violate }: World): void {
  for (const { name, alive } of attempts.values()) if (alive) violate('I7', `${name} still runs although no Ralph does`)
  const { progress } = journal.acknowledged()
  for (const { hookId, iteration, status } of progress.hookTasks) {
    if (status === 'running') violate('I14', `hook ${hookId} of iteration ${iteration} is for ever running`)
  }
  if (progress.status === 'in-progress') violate('I13', 'the run is over, but the sprint does not rest')
}

/** The user answers before the next run. */
function answer({ journal, timeline }: World, progress: Progress, rules: Rules): Progress {
  if (progress.status !== 'needs-human' || !progress.humanNeeded) return progress
  const fact: Fact = { type: 'answered', at: timeline.now(), answer: 'go on' }
  const next = rules(progress, fact).progress
  journal.write(fact)
  journal.sync()
  journal.acknowledge(next)
  return next
}

/** Users and their commands, at any time. */
function disturb(world: World, life: Life, run: SprintRun): void {
  const { timeline, random } = world
  for (let n = random.below(4); n > 0; n--) {
    const fact = disturbance(random, timeline.now() + random.below(600_000))
    timeline.at(fact.at, () => {
      if (!life.dead) run.send(fact)
    })
  }
}

function disturbance(random: Random, at: number): Fact {
  const dice = random.next()
  if (dice < 0.35) {
    const when = random.pick(['iteration', 'turn', 'now'] as const)
    return { type: 'stop-requested', at, as: random.pick(['paused', 'interrupted'] as const), when }
  }
  if (dice < 0.6) return { type: 'told', at, text: 'mind the gap', now: random.chance(0.5) }
  const id = `step-${random.below(5)}`
  const edit = random.pick<Edit>([
    { kind: 'step-added', prompt: 'by hand' },
    { kind: 'step-completed', id },
    { kind: 'step-reworded', id, prompt: 'better' },
    { kind: 'steps-ordered', ids: ['step-2', 'step-1'] },
    { kind: 'pause' },
    { kind: 'needs-human', reason: 'wait', details: '' },
  ])
  return { type: 'edited', at, edits: [edit], refused: [] }
}

async function drive({ timeline, violate }: World, life: Life, run: SprintRun): Promise<unknown> {
  let over: { readonly error?: unknown } | undefined
  run.done.then(
    () => (over = {}),
    (error: unknown) => (over = { error }),
  )
  for (let step = 0; step < maxRunMs; step++) {
    await settle()
    if (over || life.dead) return over?.error
    if (!timeline.step()) {
      violate('I13', 'nothing will ever happen again, but the run is not over')
      return undefined
    }
  }
  violate('I13', `the run is not over after ${maxRunMs} steps`)
  return undefined
}
