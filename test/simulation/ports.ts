import { RalphError } from '../../src/contract/errors.ts'
import { noUsage, type Outcome } from '../../src/contract/outcome.ts'
import type { Progress } from '../../src/contract/progress.ts'
import type { Fact } from '../../src/loop/core/fact.ts'
import type { Ports, ShellEnd } from '../../src/runtime/ports.ts'
import { limitConcurrency } from '../../src/runtime/limit-concurrency.ts'
import { playAgent, playShell, type PlayedAttempt } from './behaviour.ts'
import { crashSoon, never, type Attempt, type Life, type World } from './world.ts'

/** The runtime's ports in a virtual world. Every call is one or two places where the run can be killed. */
export function createPorts(world: World, life: Life): Ports {
  const { timeline, random, point, sleep } = world
  const done = async <T>(result: T): Promise<T> => {
    await point(life)
    return result
  }
  return {
    store: { save: (progress, fact) => save(world, life, progress, fact) },
    agents: (name = 'first') => ({
      name,
      transcriptPath: (transcript) => `/transcripts/${transcript}`,
      run: (request, signal) => runAgent(world, life, { name: request.attempt, agent: name }, signal),
    }),
    shell: { run: (request, signal) => runShell(world, life, request, signal) },
    workspace: {
      start: () => done(undefined),
      fingerprint: () => done(`tree ${world.tree}`),
      async checkpoint(iteration) {
        await point(life)
        await sleep(life, 50)
        if (!world.calm && random.chance(0.05)) throw new Error('the repository is locked')
        return done(`commit-${iteration}-${world.tree}`)
      },
    },
    projectFiles: {
      isFile: () => false,
      hash: () => done('hash'),
      store: () => done('hash'),
      restore: () => done(undefined),
    },
    cleanWorktree: () => done(undefined),
    limits: {
      limitedUntil: (agent) => done(world.limits.get(agent)),
      record: async (agent, until) => {
        await point(life)
        world.limits.set(agent, until)
      },
    },
    notes: () => done(undefined),
    hookSlots: limitConcurrency(4),
    notify: async () => {
      await point(life)
      if (random.chance(0.2)) throw new Error('no answer')
    },
    clock: {
      now: timeline.now,
      waitUntil: (at, signal) => waitUntil(world, life, at, signal),
    },
    disk: { shortage: () => done(world.fullUntil > timeline.now() ? 'no room' : undefined) },
    random: random.next,
    observe: () => {},
  }
}

async function save(world: World, life: Life, progress: Progress, fact: Fact): Promise<void> {
  const { journal, timeline, random } = world
  await world.point(life)
  if (!world.calm && random.chance(0.01)) world.fullUntil = timeline.now() + random.below(60_000)
  if (world.fullUntil > timeline.now()) throw full()
  // Another part of this run may have hit the crash since: a dead run writes nothing.
  if (life.dead) return never()
  journal.write(fact)
  await world.point(life)
  await world.sleep(life, 1)
  if (life.dead) return never()
  journal.sync()
  await world.point(life)
  acknowledge(world, progress, fact)
}

/** From here on the record must never be missing again. */
export function acknowledge(world: World, progress: Progress, fact: Fact): void {
  const { journal, random } = world
  const { live } = journal.acknowledged().progress
  journal.acknowledge(progress)
  if (random.chance(0.3)) journal.shown = progress
  if (fact.type !== 'attempt-ended' || fact.end.kind !== 'failed') return
  const { class: failure, resetsAt } = fact.end
  const agent = live.find(({ number }) => number === fact.iteration)?.agent
  if (failure === 'usage_limit' && resetsAt !== undefined) world.reportedLimits.set(agent ?? 'first', resetsAt)
}

const full = (): RalphError => new RalphError('DISK_FULL', 'no space left')

function waitUntil({ timeline }: World, life: Life, at: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      signal.removeEventListener('abort', wake)
      if (!life.dead) resolve()
    }
    if (signal.aborted) return wake()
    signal.addEventListener('abort', wake, { once: true })
    timeline.at(at, wake)
  })
}

/** States of an earlier attempt after which a new one starts; in all other states it is joined. */
const restartStates = {
  join: ['never-started', 'aborted'],
  none: undefined,
}

function claimAttempt(world: World, base: string, kind: keyof typeof restartStates): Attempt {
  const states = restartStates[kind]
  for (let turn = 1; ; turn++) {
    const name = turn === 1 ? base : `${base}.${turn}`
    const before = world.attempts.get(name)
    if (before && states && !states.includes(before.state)) return before
    // No process survives of an attempt that is not joined.
    if (before) {
      before.alive = false
      if (before.state === 'running') before.state = 'lost'
      continue
    }
    const attempt: Attempt = {
      name,
      base,
      state: 'never-started',
      alive: false,
      result: undefined,
      waiting: new Set(),
    }
    world.attempts.set(name, attempt)
    return attempt
  }
}

function start(world: World, attempt: Attempt, played: PlayedAttempt<unknown>): void {
  const { attempts, timeline, violate } = world
  if (world.transcripts.has(attempt.name)) violate('I9', `the transcript of ${attempt.name} was overwritten`)
  world.transcripts.add(attempt.name)
  const mayRepeat = /-(?:check-\d+|gate)$/.test(attempt.base)
  if (!mayRepeat && world.finished.has(attempt.base)) violate('I4', `${attempt.base} runs again after it has ended`)
  for (const other of attempts.values()) {
    if (other.base === attempt.base && other !== attempt && other.alive) {
      violate('I5', `${attempt.name} starts while ${other.name} lives`)
    }
  }
  attempt.state = 'running'
  attempt.alive = true
  attempt.result = played.result
  timeline.at(timeline.now() + played.ms, () => {
    if (attempt.state !== 'running') return
    attempt.state = 'ended'
    attempt.alive = false
    if (!attempt.base.startsWith('notify')) world.finished.add(attempt.base)
    if (played.changes) world.tree++
    for (const wake of attempt.waiting) wake()
  })
}

/** Until the process is over, or was aborted. */
function ended(world: World, life: Life, attempt: Attempt, signal: AbortSignal): Promise<'over' | 'aborted'> {
  return new Promise((resolve) => {
    const tell = (how: 'over' | 'aborted') => {
      if (!life.dead) resolve(how)
    }
    if (attempt.state !== 'running') return tell('over')
    attempt.waiting.add(() => tell('over'))
    const end = () => {
      if (life.dead || attempt.state !== 'running') return
      attempt.state = 'aborted'
      if (!world.calm && world.random.chance(0.3)) crashSoon(world, life, 10_000)
      world.timeline.at(world.timeline.now() + world.random.below(10_000), () => {
        if (life.dead) return
        attempt.alive = false
        tell('aborted')
      })
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

type AgentCall = { readonly name: string; readonly agent: string }

async function runAgent(world: World, life: Life, { name, agent }: AgentCall, signal: AbortSignal): Promise<Outcome> {
  await world.point(life)
  if (world.fullUntil > world.timeline.now()) throw full()
  const attempt = claimAttempt(world, name, 'join')
  await world.point(life)
  if (attempt.state === 'never-started') {
    const until = world.reportedLimits.get(agent) ?? 0
    if (/^\d+-\d+$/.test(name) && world.timeline.now() < until)
      world.violate('G11', `${agent} starts before its limit is over`)
    start(world, attempt, playAgent(world, attempt.name, agent))
  }
  await world.point(life)
  const how = await ended(world, life, attempt, signal)
  await world.point(life)
  if (how === 'aborted') return { ...noop, status: 'aborted' }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- start() put it there for an agent
  return attempt.state === 'ended' ? (attempt.result as Outcome) : { ...noop, class: 'crash', reason: 'it is gone' }
}

const noop: Outcome = { status: 'failed', retryable: true, text: '', usage: noUsage, costUsd: 0, resumable: false }

async function runShell(
  world: World,
  life: Life,
  request: Parameters<Ports['shell']['run']>[0],
  signal: AbortSignal,
): Promise<ShellEnd> {
  const { attempt: base, ifBegun = 'none' } = request
  await world.point(life)
  if (world.fullUntil > world.timeline.now()) throw full()
  const attempt = claimAttempt(world, base, ifBegun)
  await world.point(life)
  if (attempt.state === 'never-started') start(world, attempt, playShell(world, attempt.name))
  const how = await ended(world, life, attempt, signal)
  await world.point(life)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- start() put it there for a command
  if (attempt.state === 'ended') return attempt.result as ShellEnd
  return { exitCode: null, output: '', durationMs: 0, error: how === 'aborted' ? 'aborted' : 'was killed' }
}
