import type { Progress } from '../../contract/progress.ts'
import { toOneLine } from '../../words/text.ts'

export type BestIteration = {
  readonly number: number
  readonly passed: number
  readonly of: number
  /** No later iteration changed files. */
  readonly isNow: boolean
}

/** The iteration after which most checks passed, the latest of those; undefined if none passed. */
export function bestIteration({ iterations }: Progress): BestIteration | undefined {
  let best: Omit<BestIteration, 'isNow'> | undefined
  for (const { number, checks } of iterations) {
    if (!checks) continue
    const passed = checks.filter((check) => check.passed).length
    if (passed === 0) continue
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
