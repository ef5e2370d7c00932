import { noUsage, type Outcome } from '../../src/contract/outcome.ts'
import type { Progress } from '../../src/contract/progress.ts'
import { advance, type Transition } from '../../src/loop/advance.ts'
import type { Fact } from '../../src/loop/core/fact.ts'
import type { Ports } from '../../src/runtime/ports.ts'
import { acknowledge } from './ports.ts'
import type { Mutant } from './simulate.ts'
import { never, type Life, type World } from './world.ts'

/** Mistakes that programs of this kind made, or that this one nearly made. The simulation must find each of them. */
export const mutants: Readonly<Record<string, Mutant>> = {
  'acknowledges before it is synced': savesBy((world, _life, progress, fact) => {
    world.journal.write(fact)
    acknowledge(world, progress, fact)
    return Promise.resolve()
  }),

  'saves after acting': savesBy((world, life, progress, fact) => {
    world.timeline.at(world.timeline.now() + 5, () => {
      if (life.dead) return
      world.journal.write(fact)
      world.journal.sync()
      world.journal.acknowledge(progress)
      world.journal.shown = progress
    })
    return Promise.resolve()
  }),

  'keeps a half-written record and appends to it': {
    recovered: (recovered, { journal }) => {
      const [last] = journal.entries.splice(-1, 1)
      if (last) journal.entries.push({ ...last, seq: last.seq + 1 })
      return recovered
    },
  },

  'forgets the last record when it recovers': {
    recovered: (recovered, { journal }) => {
      if (journal.entries.at(-1)?.kind === 'fact') journal.entries.pop()
      return journal.recover()
    },
  },

  'starts with the epoch of the run before': {
    recovered: (recovered) => ({ ...recovered, epoch: recovered.epoch - 1 }),
  },

  'applies the last record twice when it recovers': {
    recovered: (recovered, { journal }) => {
      const last = journal.entries.at(-1)
      if (last?.kind !== 'fact' || last.fact.type !== 'told') return recovered
      return { ...recovered, progress: advance(recovered.progress, last.fact).progress }
    },
  },

  'counts from zero again after a restart': {
    recovered: (recovered) => ({ ...recovered, progress: countingFromZero(recovered.progress) }),
  },

  'runs a finished attempt again after a restart': takesAttempts((world, base) => {
    for (const [name, attempt] of world.attempts) {
      if (attempt.base === base && attempt.state === 'ended') world.attempts.set(name, { ...attempt, state: 'aborted' })
    }
  }),

  'writes over the transcript of an attempt that was ended': takesAttempts((world, base) => {
    for (const [name, attempt] of world.attempts) {
      if (attempt.base === base && attempt.state === 'aborted') world.attempts.delete(name)
    }
  }),

  'starts a second agent while the first one lives': takesAttempts((world, base) => {
    const running = [...world.attempts.values()].filter((one) => one.base === base && one.state === 'running')
    // The new run does not know of the old one, which continues under another name.
    for (const attempt of running) {
      world.attempts.delete(attempt.name)
      world.attempts.set(`${attempt.name} (old)`, { ...attempt, name: `${attempt.name} (old)` })
    }
  }),

  'leaves the agent running when it is called off': {
    ports: (ports, _world, life) => ({
      ...ports,
      agents: (name, model) => {
        const runner = ports.agents(name, model)
        return {
          ...runner,
          run: (request, signal) =>
            callOff(runner.run(request, new AbortController().signal), request.attempt, signal, life),
        }
      },
    }),
  },

  'runs a hook again whose end it did not save': {
    ports: (ports) => ({
      ...ports,
      shell: { run: ({ ifBegun: _join, ...request }, signal) => ports.shell.run(request, signal) },
    }),
  },

  'loses the result of a hook': decides((before, fact, next) =>
    fact.type === 'hook-ended' ? { ...next, progress: { ...next.progress, hookTasks: before.hookTasks } } : next,
  ),

  'forgets a step that was completed': decides((before, _fact, { progress, orders }) => {
    const done = progress.dynamicSteps.find(({ status }) => status === 'completed')
    if (!done || before.dynamicSteps.length < 3) return { progress, orders }
    const again = progress.dynamicSteps.map((step) => (step === done ? { ...step, status: 'pending' as const } : step))
    return { progress: { ...progress, dynamicSteps: again }, orders }
  }),

  'drops a pending step that the report does not mention': decides((before, fact, next) => {
    if (fact.type !== 'attempt-ended') return next
    const { dynamicSteps } = next.progress
    const kept = dynamicSteps.filter((step) => step.status === 'completed' || !before.dynamicSteps.includes(step))
    return { ...next, progress: { ...next.progress, dynamicSteps: kept } }
  }),

  'gives the id of a step to another one': decides((_before, fact, { progress, orders }) => {
    const { stats } = progress
    if (fact.type !== 'attempt-ended' || stats.totalSteps < 3) return { progress, orders }
    return { progress: { ...progress, stats: { ...stats, totalSteps: stats.totalSteps - 1 } }, orders }
  }),

  'uses the number of an iteration again': decides((before, fact, { progress, orders }) => {
    if (fact.type !== 'attempt-ended' || progress.live.length > 0 || before.live.length === 0)
      return { progress, orders }
    const { stats } = progress
    return { progress: { ...progress, stats: { ...stats, currentIteration: stats.currentIteration - 1 } }, orders }
  }),

  'counts an iteration twice': decides((before, fact, { progress, orders }) => {
    if (fact.type !== 'started' || before.stats.currentIteration === 0) return { progress, orders }
    const { stats } = progress
    return { progress: { ...progress, stats: { ...stats, currentIteration: stats.currentIteration + 1 } }, orders }
  }),

  'goes on after the last iteration that is allowed': decides((before, _fact, { progress, orders }) => ({
    progress: { ...progress, stats: { ...progress.stats, maxIterations: before.stats.maxIterations + 1 } },
    orders,
  })),

  'forgets a usage limit when it is restarted': {
    rules: (progress, fact) => {
      const { parked: _parked, agentLimits: _limits, ...forgetful } = progress
      return advance(fact.type === 'started' ? forgetful : progress, fact)
    },
    ports: (ports) => ({ ...ports, limits: { ...ports.limits, limitedUntil: async () => undefined } }),
  },

  'accepts a claim without its checks': decides((_before, fact, next) => {
    if (fact.type !== 'checks-ended' || fact.iteration === 0) return next
    const green = fact.results.map((result) => ({ ...result, passed: true }))
    return advance(_before, { ...fact, results: green })
  }),

  'rests without a word while an order is open': {
    ports: (ports, world, life) => ({
      ...ports,
      clock: { ...ports.clock, waitUntil: async (at, signal) => (signal.aborted ? undefined : stuck(world, life, at)) },
    }),
  },
}

type Save = (world: World, life: Life, progress: Progress, fact: Fact) => Promise<void>

function savesBy(save: Save): Mutant {
  return {
    ports: (ports, world, life) => ({
      ...ports,
      store: {
        save: async (progress, fact) => {
          await world.point(life)
          await save(world, life, progress, fact)
          await world.point(life)
        },
      },
    }),
  }
}

type Rule = (before: Progress, fact: Fact, next: Transition) => Transition

function decides(rule: Rule): Mutant {
  return { rules: (progress, fact) => rule(progress, fact, advance(progress, fact)) }
}

/** Tampers with the folders of an attempt before it is claimed. */
function takesAttempts(meddle: (world: World, base: string) => void): Mutant {
  return {
    ports: (ports: Ports, world) => ({
      ...ports,
      agents: (name, model) => {
        const runner = ports.agents(name, model)
        return {
          ...runner,
          run: (request, signal) => {
            meddle(world, request.attempt)
            return runner.run(request, signal)
          },
        }
      },
    }),
  }
}

const countingFromZero = (progress: Progress): Progress => ({
  ...progress,
  stats: { ...progress.stats, usage: { ...progress.stats.usage, inputTokens: 0 }, activeMs: 0 },
})

/** Reports at once that it is aborted, whatever the process does. */
function callOff(run: Promise<Outcome>, name: string, signal: AbortSignal, life: Life): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    run.then(resolve, reject)
    const off = () => {
      if (!life.dead && /^\d+-\d+$/.test(name)) resolve(aborted)
    }
    if (signal.aborted) off()
    else signal.addEventListener('abort', off, { once: true })
  })
}

const aborted: Outcome = {
  status: 'aborted',
  retryable: true,
  text: '',
  usage: noUsage,
  costUsd: 0,
  resumable: false,
}

/** A wait that never ends. */
async function stuck(world: World, life: Life, _at: number): Promise<void> {
  if (world.random.chance(0.1)) return never()
  await world.point(life)
}
