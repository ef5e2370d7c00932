import { expect, it } from 'vitest'
import { buildProgress, noon } from '../../../test/support/builders.ts'
import { noUsage } from '../../contract/outcome.ts'
import type { IterationRecord } from '../../contract/progress.ts'
import { formatJobSummary } from './job-summary.ts'

const createIteration = (overrides: Partial<IterationRecord>): IterationRecord => ({
  number: 1,
  mode: 'executing',
  verdict: 'continue',
  attempts: 1,
  startedAt: noon,
  endedAt: noon + 90_000,
  costUsd: 0.5,
  usage: noUsage,
  ...overrides,
})

it('shows the final status, the totals, and every iteration', () => {
  const progress = buildProgress({
    status: 'completed',
    goal: 'Ship it',
    doneWhen: [{ run: 'npm test', timeout: 1000, eachIteration: false, protect: false }],
    stats: { currentIteration: 2, completedSteps: 1, totalSteps: 3, costUsd: 1, activeMs: 180_000 },
    iterations: [
      createIteration({ verdict: 'refused', summary: 'tried', checks: [{ name: 'npm test', passed: false }] }),
      createIteration({
        number: 2,
        verdict: 'accepted',
        agent: 'claude',
        checks: [{ name: 'npm test', passed: true }],
      }),
    ],
  })

  expect(formatJobSummary(progress, '.claude/sprints/s')).toBe(`## ✅ Ralph: goal reached

**Goal:** Ship it

|  |  |
| --- | --- |
| Sprint | \`2026-01-18_sprint\` in \`.claude/sprints/s\` |
| Iterations | 2, 1 with a refused claim |
| Steps | 1 of 3 completed |
| Checks | ✅ \`npm test\` |
| Cost | $1.00 |
| Time | 3 min 0 s |

### Iterations

| # | mode | verdict | agent | checks | cost | time | summary |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 1 | executing | refused |  | 0/1 | $0.50 | 1 min 30 s | tried |
| 2 | executing | accepted | claude | 1/1 | $0.50 | 1 min 30 s |  |
`)
})

it('shows the open question with its options and how to answer', () => {
  const humanNeeded = { reason: 'Which database?', details: 'Two fit.', options: ['pg', 'sqlite'], askedAt: noon }

  expect(formatJobSummary(buildProgress({ status: 'needs-human', humanNeeded }), 's')).toContain(`### A human is needed

**Which database?**

Two fit.

1. pg
2. sqlite

Answer with \`ralph answer s "…"\`, then \`ralph run s\`.
`)
})

it("does not let an agent's text break out of its table cell", () => {
  const summary = 'a | b\n# <img src=x> [link](x) @everyone `code`'
  const shown = formatJobSummary(buildProgress({ iterations: [createIteration({ summary })] }), 's')

  expect(shown.split('\n').at(-2)).toBe(
    '| 1 | executing | continue |  |  | $0.50 | 1 min 30 s | a \\| b \\# &lt;img src=x> \\[link\\](x) @\u200beveryone \\`code\\` |',
  )
})
