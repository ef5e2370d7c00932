import type { CompiledPhase, CompiledStep } from '../../src/contract/phases.ts'
import type { Progress } from '../../src/contract/progress.ts'
import type { Check } from '../../src/contract/check.ts'
import type { Hook } from '../../src/contract/settings.ts'
import { buildCheck, buildHook, buildProgress } from '../support/builders.ts'
import { buildGate, buildItem, buildPart, buildPhase, buildStandard, forEach } from '../support/phases.ts'
import type { Random } from './random.ts'

/** A sprint with a goal or with phases, and with some hooks, checks and limits. */
export function createSprint(random: Random): Progress {
  const settings = {
    perIterationHooks: Array.from({ length: random.below(4) }, (_, n) => createHook(random, n)),
    doneWhen: Array.from({ length: random.below(3) }, (_, n) => createCheck(random, n)),
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

type Settings = Parameters<typeof buildProgress>[0]

const withGoal = (random: Random, settings: Settings): Progress =>
  buildProgress({
    ...settings,
    ralph: { minIterations: random.pick([0, 0, 3]), idleThreshold: random.pick([1, 3]) },
    ...(random.chance(0.2) && { review: { agent: 'reviewer' } }),
  })

const withPhases = (random: Random, settings: Settings): Progress =>
  buildStandard(
    Array.from({ length: 1 + random.below(3) }, (_, n) => createPhase(random, `phase-${n}`)),
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

function createPhase(random: Random, id: string): CompiledPhase {
  const flow = {
    ...(random.chance(0.3) && { gate: buildGate(1 + random.below(3)) }),
    ...(random.chance(0.2) && { break: true as const }),
  }
  if (random.chance(0.5)) return buildPhase(id, flow)
  return forEach(
    id,
    Array.from({ length: 1 + random.below(4) }, (_, n) => createItem(random, n)),
    { parallel: random.chance(0.5), ...flow },
  )
}

const createItem = (random: Random, n: number): CompiledStep =>
  buildItem(`item-${n}`, {
    phases: Array.from({ length: 1 + random.below(2) }, (_, part) => buildPart(`part-${part}`)),
    ...(n > 0 && random.chance(0.3) && { dependsOn: [`item-${random.below(n)}`] }),
  })

function createHook(random: Random, n: number): Hook {
  const { run: _run, ...prompted } = buildHook()
  const kind = random.chance(0.7) ? buildHook() : { ...prompted, prompt: 'look at $ITERATION' }
  const onFail = random.pick(['record', 'record', 'feed-back', 'block'] as const)
  return { ...kind, id: `hook-${n}`, parallel: random.chance(0.5), enabled: random.chance(0.9), onFail }
}

const createCheck = (random: Random, n: number): Check =>
  buildCheck({ run: `check ${n}`, eachIteration: random.chance(0.5) })
