import { unlimitedIterations, type IterationRecord, type Progress } from '../../contract/progress.ts'
import { formatHumanDuration } from '../../words/durations.ts'
import type { TerminalPaint } from '../io/paint.ts'
import { formatCost } from '../../words/money.ts'
import { formatCount } from '../../words/counts.ts'
import { tableLines, type TableColumn } from '../io/table.ts'

type ReceiptTableLook = { readonly width: number; readonly paint: TerminalPaint }

const columns: readonly TableColumn[] = [
  { title: '#', align: 'right' },
  { title: 'verdict' },
  { title: 'mode', drop: 6 },
  { title: 'agent', drop: 4 },
  { title: 'in', align: 'right', drop: 5 },
  { title: 'out', align: 'right', drop: 5 },
  { title: 'cache', align: 'right', drop: 7 },
  { title: 'cost', align: 'right' },
  { title: 'time', align: 'right', drop: 2 },
  { title: 'checks', drop: 1 },
  { title: 'summary' },
]

/** One row per iteration: agent, totals, and result. */
export function receiptTableLines(iterations: readonly IterationRecord[], look: ReceiptTableLook): string[] {
  if (iterations.length === 0) return []
  const lines = tableLines(columns, iterations.map(receiptCells), look)
  const isEstimated = iterations.some(({ costEstimated }) => costEstimated === true)
  return isEstimated ? [...lines, look.paint.dim("≈ estimated with Ralph's price list")] : lines
}

const receiptCells = (record: IterationRecord): string[] => [
  String(record.number),
  `${record.verdict}${record.attempts > 1 ? ` (${record.attempts} attempts)` : ''}`,
  record.mode,
  agentText(record),
  formatCount(record.usage.inputTokens),
  formatCount(record.usage.outputTokens),
  formatCount(record.usage.cacheReadTokens + record.usage.cacheWriteTokens),
  formatCost(record),
  formatHumanDuration(record.endedAt - record.startedAt),
  checksText(record),
  record.summary ?? '',
]

export const agentText = ({ agent, model }: Pick<IterationRecord, 'agent' | 'model'>): string =>
  [...new Set([agent, model])].filter((name) => name !== undefined && name !== '').join(' ')

export function checksText({ checks = [], review }: IterationRecord): string {
  const passed = checks.filter((check) => check.passed).length
  const parts = [
    ...(checks.length > 0 ? [`${passed}/${checks.length} ${passed === checks.length ? '✓' : '✗'}`] : []),
    ...(review ? [`review ${review.passed ? '✓' : '✗'}`] : []),
  ]
  return parts.join(' ')
}

/** `9/40`, or `9` without a limit. */
export const iterationText = ({ stats }: Progress): string =>
  stats.maxIterations < unlimitedIterations
    ? `${stats.currentIteration}/${stats.maxIterations}`
    : String(stats.currentIteration)
