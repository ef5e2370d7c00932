import type { UsageRow } from '../../../contract/fleet/sprint.ts'

export type DaySum = { readonly day: string; readonly costUsd: number }
export type AgentSum = {
  readonly key: string
  readonly agentName: string
  readonly model: string
  readonly iterations: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly costUsd: number
  readonly unpriced: number
}

export const usageDays = 30
const dayMs = 86_400_000

/** Every one of the last 30 days, oldest first: a day without work is a gap, not a missing column. */
export function sumByDay(rows: readonly UsageRow[], now: number): DaySum[] {
  const days = new Map<string, number>()
  for (let ago = usageDays - 1; ago >= 0; ago -= 1) days.set(new Date(now - ago * dayMs).toISOString().slice(0, 10), 0)
  for (const { day, costUsd } of rows) days.set(day, (days.get(day) ?? 0) + costUsd)
  return [...days].map(([day, costUsd]) => ({ day, costUsd })).toSorted((a, b) => a.day.localeCompare(b.day))
}

/** Most expensive first. */
export function sumByAgent(rows: readonly UsageRow[]): AgentSum[] {
  const sums = new Map<string, AgentSum>()
  for (const row of rows) {
    const model = row.model ?? 'default model'
    const key = `${row.agentId} ${model}`
    const sum = sums.get(key)
    sums.set(key, {
      key,
      agentName: row.agentName,
      model,
      iterations: (sum?.iterations ?? 0) + row.iterations,
      tokensIn: (sum?.tokensIn ?? 0) + row.inputTokens + row.cacheReadTokens + row.cacheWriteTokens,
      tokensOut: (sum?.tokensOut ?? 0) + row.outputTokens,
      costUsd: (sum?.costUsd ?? 0) + row.costUsd,
      unpriced: (sum?.unpriced ?? 0) + row.unpriced,
    })
  }
  return [...sums.values()].toSorted((a, b) => b.costUsd - a.costUsd)
}
