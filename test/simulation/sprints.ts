import type { CompiledPhase, CompiledStep } from '../../src/contract/phases.ts'
import type { Progress } from '../../src/contract/progress.ts'
import type { Check, Hook } from '../../src/contract/settings.ts'
import { aCheck, aHook, aProgress } from '../support/builders.ts'
import { aGate, anItem, aPart, aPhase, aStandard, forEach } from '../support/phases.ts'
import type { Random } from './random.ts'

/** A sprint with a goal or with phases, and with some hooks, checks and limits. */
export function sprintOf(random: Random): Progress {
  const settings = {
    perIterationHooks: Array.from({ length: random.below(4) }, (_, n) => hookOf(random, n)),
    doneWhen: Array.from({ length: random.below(3) }, (_, n) => checkOf(random, n)),
    checkpoint: random.chance(0.5),
    limits: {
      iterations: random.pick<'off' | number>(['off', 8, 20]),
      noProgress: random.pick<'off' | number>(['off', 2, 5]),
      failedStartsPerHour: 100,
    },
    ...(random.chance(0.3) && { notify: ['desktop' as const] }),
  }
  const { baseline: _baseline, ...fresh } = random.chance(0.3)
    ? withPhases(random, settings)
    : withGoal(random, settings)
  return fresh
}

type Settings = Parameters<typeof aProgress>[0]

const withGoal = (random: Random, settings: Settings): Progress =>
  aProgress({
    ...settings,
    ralph: { minIterations: random.pick([0, 0, 3]), idleThreshold: random.pick([1, 3]) },
    ...(random.chance(0.2) && { review: { agent: 'reviewer' } }),
  })

const withPhases = (random: Random, settings: Settings): Progress =>
  aStandard(
    Array.from({ length: 1 + random.below(3) }, (_, n) => phaseOf(random, `phase-${n}`)),
    {
      ...settings,
      limits: { ...settings?.limits, iterations: 'off' },
      parallelExecution: {
        enabled: random.chance(0.7),
        maxConcurrency: 1 + random.below(3),
        onDependencyFailure: 'continue',
      },
      ...(random.chance(0.5) && { retry: { maxAttempts: 2, backoffMs: [1000], retryOn: ['logic', 'validation'] } }),
    },
  )

function phaseOf(random: Random, id: string): CompiledPhase {
  const flow = {
    ...(random.chance(0.3) && { gate: aGate(1 + random.below(3)) }),
    ...(random.chance(0.2) && { break: true as const }),
  }
  if (random.chance(0.5)) return aPhase(id, flow)
  return forEach(
    id,
    Array.from({ length: 1 + random.below(4) }, (_, n) => itemOf(random, n)),
    { parallel: random.chance(0.5), ...flow },
  )
}

const itemOf = (random: Random, n: number): CompiledStep =>
  anItem(`item-${n}`, {
    phases: Array.from({ length: 1 + random.below(2) }, (_, part) => aPart(`part-${part}`)),
    ...(n > 0 && random.chance(0.3) && { dependsOn: [`item-${random.below(n)}`] }),
  })

function hookOf(random: Random, n: number): Hook {
  const { run: _run, ...prompted } = aHook()
  const kind = random.chance(0.7) ? aHook() : { ...prompted, prompt: 'look at $ITERATION' }
  const onFail = random.pick(['record', 'record', 'feed-back', 'block'] as const)
  return { ...kind, id: `hook-${n}`, parallel: random.chance(0.5), enabled: random.chance(0.9), onFail }
}

const checkOf = (random: Random, n: number): Check => aCheck({ run: `check ${n}`, eachIteration: random.chance(0.5) })
