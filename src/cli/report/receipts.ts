import type { IterationRecord } from '../../contract/progress.ts'
import { formatHumanDuration } from '../../words/durations.ts'
import type { TerminalPaint } from '../io/paint.ts'
import { formatCost } from '../../words/money.ts'
import { formatCount } from '../../words/counts.ts'
import { agentText, checksText } from '../../words/receipt-text.ts'
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
