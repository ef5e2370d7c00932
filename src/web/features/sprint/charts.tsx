import type { IterationRecord } from '../../../contract/progress.ts'
import { type ChartColumn, ColumnChart } from '../../ui/column-chart.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { formatCount } from '../../../words/counts.ts'
import { formatDurationShort } from '../../../words/durations.ts'
import { formatUsd } from '../../../words/money.ts'

/** Maximum number of distinguishable columns. */
const maxColumns = 120

/** Cost, tokens and time, by iteration. */
export function Charts({ iterations }: { iterations: readonly IterationRecord[] }) {
  if (iterations.length === 0) return <EmptyState title="No finished iterations yet" />
  const shown = iterations.slice(-maxColumns)
  const total = (of: (record: IterationRecord) => number): number => shown.reduce((sum, record) => sum + of(record), 0)
  return (
    <div tabIndex={0} role="region" aria-label="Charts" className="min-h-0 flex-1 divide-y divide-line overflow-y-auto">
      {total(iterationCostUsd) > 0 && (
        <ColumnChart
          title="Cost"
          total={formatUsd(total(iterationCostUsd))}
          format={formatUsd}
          columns={shown.map((record) => iterationTitle(record, iterationCostUsd(record), formatUsd(record.costUsd)))}
        />
      )}
      {total(iterationTokens) > 0 && (
        <ColumnChart
          title="Tokens"
          total={formatCount(total(iterationTokens))}
          format={formatCount}
          legend={[
            { name: 'in', fill: 'bg-accent' },
            { name: 'out', fill: 'bg-ok-fill' },
            { name: 'cached', fill: 'bg-line-strong' },
          ]}
          columns={shown.map((record) => ({
            key: record.number,
            label: String(record.number),
            title: `Iteration ${record.number}: ${formatCount(iterationTokens(record))} tokens`,
            parts: tokenParts(record),
          }))}
        />
      )}
      <ColumnChart
        title="Time"
        total={formatDurationShort(total(iterationTime))}
        format={formatDurationShort}
        columns={shown.map((record) =>
          iterationTitle(record, iterationTime(record), formatDurationShort(iterationTime(record))),
        )}
      />
      {total(iterationTokens) + total(iterationCostUsd) === 0 && (
        <p className="px-3.5 py-3 text-sm text-dim">The agent program reports neither cost nor tokens.</p>
      )}
    </div>
  )
}

const iterationTime = (record: IterationRecord): number => record.endedAt - record.startedAt
const iterationCostUsd = (record: IterationRecord): number => record.costUsd ?? 0
const iterationTokens = (record: IterationRecord): number =>
  tokenParts(record).reduce((sum, { value }) => sum + value, 0)

const iterationTitle = ({ number }: IterationRecord, value: number, words: string): ChartColumn => ({
  key: number,
  label: String(number),
  title: `Iteration ${number}: ${words}`,
  parts: [{ value, fill: 'bg-accent', name: 'value' }],
})

const tokenParts = ({ usage }: IterationRecord) => [
  { value: usage.cacheReadTokens + usage.cacheWriteTokens, fill: 'bg-line-strong', name: 'cached' },
  { value: usage.outputTokens, fill: 'bg-ok-fill', name: 'out' },
  { value: usage.inputTokens, fill: 'bg-accent', name: 'in' },
]
