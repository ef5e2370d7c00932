import type { Usage } from '../../contract/outcome.ts'
import type { Progress } from '../../contract/progress.ts'
import { oneLine } from '../io/paint.ts'

type Cost = {
  readonly costUsd: number | null
  readonly spentUsd?: number | undefined
  readonly costEstimated?: boolean | undefined
}

/** `$0.12`; `≈$0.12` from our price list; if some prices are unknown, the known part or `unpriced`. */
export function money({ costUsd, spentUsd, costEstimated }: Cost): string {
  if (costUsd !== null) return `${costEstimated ? '≈' : ''}$${costUsd.toFixed(2)}`
  return spentUsd ? `$${spentUsd.toFixed(2)} and an unpriced part` : 'unpriced'
}

export function tokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): string {
  const cached = cacheReadTokens + cacheWriteTokens
  return `${short(inputTokens)} in, ${short(outputTokens)} out${cached > 0 ? `, ${short(cached)} cached` : ''}`
}

const short = (count: number): string => {
  if (count < 1000) return String(count)
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

export type Best = {
  readonly number: number
  readonly passed: number
  readonly of: number
  /** No later iteration changed files. */
  readonly isNow: boolean
}

/** The iteration after which most checks passed, the latest of those; undefined if none was checked. */
export function bestIteration({ iterations }: Progress): Best | undefined {
  let best: Omit<Best, 'isNow'> | undefined
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
    (option, index) => `    ${index + 1}. ${oneLine(option)}${option === asked.default ? ' (default)' : ''}`,
  )
  const other =
    asked.default !== undefined && !options.includes(asked.default) ? [`    default: ${oneLine(asked.default)}`] : []
  return [`? ${oneLine(reason)}`, ...(details.trim() === '' ? [] : [`  ${oneLine(details)}`]), ...choices, ...other]
}
