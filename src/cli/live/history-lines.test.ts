import { expect, it } from 'vitest'
import { buildProgress, noon } from '../../../test/support/builders.ts'
import { noUsage } from '../../contract/outcome.ts'
import type { Progress } from '../../contract/progress.ts'
import { createPaint } from '../io/paint.ts'
import { checkHistory, historyLines } from './history-lines.ts'

const paint = createPaint(false)
const draw = { paint, size: { columns: 200, rows: 50 }, now: noon, project: '/p' }

const createProgress = (results: readonly boolean[]): Progress =>
  buildProgress({
    iterations: results.map((passed, index) => ({
      number: index + 1,
      mode: 'executing',
      verdict: passed ? 'accepted' : 'refused',
      summary: `Part ${index + 1} is written.`,
      checks: [{ name: 'npm test', passed }],
      attempts: 1,
      startedAt: noon - 65_000,
      endedAt: noon,
      costUsd: 0.2,
      usage: noUsage,
    })),
  })

it('lists earlier iterations from the newest on, with time, cost, checks and summary', () => {
  expect(historyLines(createProgress([false, true]), draw, { rows: 9, width: 60 })).toEqual([
    'earlier iterations',
    '✓  2   1:05   $0.20 1/1 ✓  Part 2 is written.',
    '✗  1   1:05   $0.20 0/1 ✗  Part 1 is written.',
  ])
  expect(historyLines(createProgress([]), draw, { rows: 9, width: 60 })).toEqual([])
  expect(historyLines(createProgress([true, true, true, true]), draw, { rows: 3, width: 60 })).toHaveLength(3)
})

it('shows the last results of a check, once there are two', () => {
  expect(checkHistory(createProgress([false, false, true]), 'npm test', paint)).toBe('✗✗✓')
  expect(checkHistory(createProgress([false]), 'npm test', paint)).toBe('')
  expect(checkHistory(createProgress([false, true]), 'another', paint)).toBe('')
})
