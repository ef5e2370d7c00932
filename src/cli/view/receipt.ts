import type { Usage } from '../../contract/outcome.ts'
import type { Progress } from '../../contract/progress.ts'
import { toOneLine } from '../io/paint.ts'

type CostSummary = {
  readonly costUsd: number | null
  readonly spentUsd?: number | undefined
  readonly costEstimated?: boolean | undefined
}

/** `$0.12`; `≈$0.12` from our price list; if some prices are unknown, the known part or `unpriced`. */
export function formatCost({ costUsd, spentUsd, costEstimated }: CostSummary): string {
  if (costUsd !== null) return `${costEstimated ? '≈' : ''}$${costUsd.toFixed(2)}`
  return spentUsd ? `$${spentUsd.toFixed(2)} and an unpriced part` : 'unpriced'
}

export function formatTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): string {
  const cached = cacheReadTokens + cacheWriteTokens
  return `${formatTokenCount(inputTokens)} in, ${formatTokenCount(outputTokens)} out${cached > 0 ? `, ${formatTokenCount(cached)} cached` : ''}`
}

const formatTokenCount = (count: number): string => {
  if (count < 1000) return String(count)
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

export type BestIteration = {
  readonly number: number
  readonly passed: number
  readonly of: number
  /** No later iteration changed files. */
  readonly isNow: boolean
}

/** The iteration after which most checks passed, the latest of those; undefined if none was checked. */
export function bestIteration({ iterations }: Progress): BestIteration | undefined {
  let best: Omit<BestIteration, 'isNow'> | undefined
  for (const { number, checks } of iterations) {
    if (!checks) continue
    const passed = checks.filter((check) => check.passed).length
    if (!best || passed / checks.length >= best.passed / best.of) best = { number, passed, of: checks.length }
  }
  return (
    best && { ...best, isNow: !iterations.some(({ number, changed }) => number > best.number && changed !== false) }
  )
}

/** The open question with all its details. */
export function questionLines({
  reason,
  details,
  options = [],
  ...asked
}: NonNullable<Progress['humanNeeded']>): string[] {
  const choices = options.map(
    (option, index) => `    ${index + 1}. ${toOneLine(option)}${option === asked.default ? ' (default)' : ''}`,
  )
  const other =
    asked.default !== undefined && !options.includes(asked.default) ? [`    default: ${toOneLine(asked.default)}`] : []
  return [`? ${toOneLine(reason)}`, ...(details.trim() === '' ? [] : [`  ${toOneLine(details)}`]), ...choices, ...other]
}
