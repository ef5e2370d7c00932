import type { IterationRecord, Progress } from '../../contract/progress.ts'
import { formatStopwatch } from '../../words/durations.ts'
import { formatCost } from '../../words/money.ts'
import { toOneLine } from '../../words/text.ts'
import { verdictMarks, type VerdictTone } from '../../words/verdict.ts'
import type { TerminalPaint } from '../io/paint.ts'
import { fitText } from '../io/width.ts'
import { checksText } from '../../words/receipt-text.ts'
import type { DrawContext, ScreenBox } from './draw.ts'

const toneColors = { ok: 'green', bad: 'red', warn: 'yellow' } as const satisfies Record<
  VerdictTone,
  keyof TerminalPaint
>

/** Earlier iterations, the newest first: time, cost, checks and the agent's summary. */
export function historyLines({ iterations }: Progress, { paint }: DrawContext, { rows, width }: ScreenBox): string[] {
  const shown = iterations.slice(1 - rows).toReversed()
  if (shown.length === 0) return []
  return [paint.dim('earlier iterations'), ...shown.map((record) => recordLine(record, paint, width))]
}

function recordLine(record: IterationRecord, paint: TerminalPaint, width: number): string {
  const { number, verdict, startedAt, endedAt, summary = '' } = record
  const { mark, tone } = verdictMarks[verdict]
  const checks = checksText(record)
  const head = [
    String(number).padStart(3),
    formatStopwatch(endedAt - startedAt).padStart(6),
    formatCost(record).padStart(7),
    ...(checks === '' ? [] : [checks]),
  ].join(' ')
  const text = toOneLine(summary === '' ? verdict : summary)
  return `${paint[toneColors[tone]](mark)}${head}  ${paint.dim(fitText(text, width - head.length - 3))}`
}

const maxMarks = 8

/** `✗✗✓`: the last results of a check, the newest at the end; empty before the second one. */
export function checkHistory({ iterations }: Progress, name: string, paint: TerminalPaint): string {
  const results = iterations.flatMap(({ checks = [] }) => checks.filter((check) => check.name === name))
  if (results.length < 2) return ''
  return results
    .slice(-maxMarks)
    .map(({ passed }) => (passed ? paint.green('✓') : paint.red('✗')))
    .join('')
}
