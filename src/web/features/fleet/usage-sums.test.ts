import { expect, it } from 'vitest'
import type { UsageRow } from '../../../contract/fleet/sprint.ts'
import { sumByDay } from './usage-sums.ts'

const buildRow = (day: string, costUsd: number): UsageRow => ({
  day,
  agentId: '0198b6a0-0000-7000-8000-000000000001',
  agentName: 'api',
  iterations: 1,
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd,
  unpriced: 0,
})

it('has a sum for every day of the last month, also for days without work', () => {
  const now = Date.parse('2026-11-19T21:00:00Z')
  const days = sumByDay([buildRow('2026-11-19', 2), buildRow('2026-11-17', 1), buildRow('2026-11-19', 3)], now)
  expect([days.length, days[0]]).toEqual([30, { day: '2026-10-21', costUsd: 0 }])
  expect(days.slice(-3)).toEqual([
    { day: '2026-11-17', costUsd: 1 },
    { day: '2026-11-18', costUsd: 0 },
    { day: '2026-11-19', costUsd: 5 },
  ])
})
