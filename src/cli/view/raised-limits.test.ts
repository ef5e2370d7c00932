import { expect, it } from 'vitest'
import { buildProgress } from '../../../test/support/builders.ts'
import type { Progress } from '../../contract/progress.ts'
import { describeRaisedLimits } from './raised-limits.ts'

const usage = { ...buildProgress().stats.usage, inputTokens: 60, outputTokens: 40 }
const acceptTokens = '--accept-changes   after you raise limits.tokens in SPRINT.yaml'

type LimitCase = {
  readonly limits?: Partial<Progress['limits']>
  readonly stats?: Partial<Progress['stats']>
  readonly runLimits?: NonNullable<Progress['runLimits']>
}

const cases: readonly (readonly [string, LimitCase, string])[] = [
  ['iterations', { stats: { currentIteration: 5, maxIterations: 5 } }, '--max-iterations 10'],
  ['usd', { limits: { usd: 2 }, stats: { costUsd: 2.1 } }, '--budget-usd 4'],
  ['usd of the run', { limits: { usd: 9 }, runLimits: { usd: 1 }, stats: { costUsd: 1 } }, '--budget-usd 2'],
  ['tokens', { limits: { tokens: 100 }, stats: { usage } }, acceptTokens],
  ['duration', { limits: { duration: 600_000 }, stats: { activeMs: 600_001 } }, '--max-duration 20m'],
  ['far exceeded iterations', { stats: { currentIteration: 9, maxIterations: 1 } }, '--max-iterations 18'],
  ['far exceeded usd', { limits: { usd: 1 }, stats: { costUsd: 5.3 } }, '--budget-usd 11'],
  ['far exceeded time', { limits: { duration: 60_000 }, stats: { activeMs: 301_000 } }, '--max-duration 11m'],
  [
    'tokens and duration',
    { limits: { tokens: 100, duration: 60_000 }, stats: { usage, activeMs: 60_000 } },
    '--accept-changes --max-duration 2m   after you raise limits.tokens in SPRINT.yaml',
  ],
  [
    'usd in the last iteration',
    { limits: { usd: 2 }, stats: { currentIteration: 5, maxIterations: 5, costUsd: 2 } },
    '--max-iterations 10 --budget-usd 4',
  ],
  [
    'usd, and repeats the iterations of the run, which hold for one run',
    {
      limits: { usd: 2, iterations: 3 },
      runLimits: { iterations: 8 },
      stats: { currentIteration: 4, maxIterations: 8, costUsd: 2 },
    },
    '--budget-usd 4 --max-iterations 8',
  ],
  [
    'nothing, but repeats the budget and the time of a paused run',
    {
      limits: { usd: 2, duration: 60_000 },
      runLimits: { usd: 9, durationMs: 600_000 },
      stats: { costUsd: 3, activeMs: 70_000 },
    },
    '--budget-usd 9 --max-duration 10m',
  ],
  [
    'iterations that were lowered in SPRINT.yaml since',
    { limits: { iterations: 3 }, stats: { currentIteration: 4, maxIterations: 8 } },
    '--max-iterations 6',
  ],
  ['no limit', {}, ''],
]

it.each(cases)('raises %s', (_, { limits, stats, runLimits }, flags) => {
  const base = buildProgress()
  const progress: Progress = {
    ...base,
    ...(runLimits && { runLimits }),
    limits: { ...base.limits, ...limits },
    stats: { ...base.stats, currentIteration: 1, maxIterations: 100, ...stats },
  }
  expect(describeRaisedLimits(progress)).toBe(flags)
})
