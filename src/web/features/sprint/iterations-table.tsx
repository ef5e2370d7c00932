import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import type { IterationRecord } from '../../../contract/progress.ts'
import { classes } from '../../ui/classes.ts'
import { textClasses } from '../../words/tone.ts'
import { EmptyState } from '../../ui/states.tsx'
import { formatCount } from '../../../words/counts.ts'
import { formatDurationShort } from '../../../words/durations.ts'
import { formatUsd } from '../../../words/money.ts'
import { verdictBadge, describeVerdict } from '../../../words/verdict.ts'

type IterationsTableProps = {
  readonly iterations: readonly IterationRecord[]
  readonly chosen: number | undefined
  readonly onChoose: (iteration: number) => void
}

const columns =
  'grid grid-cols-[28px_42px_minmax(0,1fr)_44px_92px_52px_62px] items-center gap-x-3 px-3.5 max-md:grid-cols-[34px_minmax(0,1fr)_64px] xl:max-2xl:grid-cols-[28px_42px_minmax(0,1fr)_44px_52px_62px]'

/** One receipt per line, newest first. */
export function IterationsTable({ iterations, chosen, onChoose }: IterationsTableProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const rows = iterations.toReversed()
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 48,
    overscan: 10,
  })
  if (rows.length === 0) return <EmptyState title="No finished iterations yet" />
  return (
    <div ref={scroller} role="table" aria-label="Iterations" className="min-h-0 flex-1 overflow-y-auto">
      <div
        role="row"
        className={classes(columns, 'sticky top-0 z-10 h-8 border-b border-line bg-panel text-sm text-dim')}
      >
        {['#', 'mode', 'what', 'checks', 'in / out', 'cost', 'time'].map((name) => (
          <span
            key={name}
            role="columnheader"
            className={classes(hiddenOnPhones.has(name) && 'max-md:hidden', name === 'in / out' && hiddenTokens)}
          >
            {name}
          </span>
        ))}
      </div>
      <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const record = rows[index]
          return (
            record && (
              <div
                key={record.number}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                <IterationLine record={record} chosen={chosen === record.number} onChoose={onChoose} />
              </div>
            )
          )
        })}
      </div>
    </div>
  )
}

const modes = { planning: 'plan', executing: 'exec', reflecting: 'reflect' } as const

/** Beside two columns of cards there is not enough room for what happened and for tokens. */
const hiddenTokens = 'xl:max-2xl:hidden'

const hiddenOnPhones = new Set(['mode', 'checks', 'in / out', 'time'])

function IterationLine({
  record,
  chosen,
  onChoose,
}: {
  record: IterationRecord
  chosen: boolean
  onChoose: (iteration: number) => void
}) {
  const { usage, checks = [] } = record
  return (
    <div role="row" className={classes(columns, 'h-12 border-b border-line', chosen && 'bg-accent-bg')}>
      <span role="cell">
        <button type="button" className="font-semibold hover:underline" onClick={() => onChoose(record.number)}>
          {record.number}
        </button>
      </span>
      <span role="cell" className="text-dim max-md:hidden">
        {modes[record.mode]}
      </span>
      <span role="cell" className="min-w-0">
        <span className={classes('block truncate', textClasses[verdictBadge(record).tone])}>
          {describeVerdict(record)}
        </span>
        <span className="block truncate text-sm text-dim">{record.summary}</span>
      </span>
      <span role="cell" className="max-md:hidden">
        {checks.length > 0 && `${checks.filter(({ passed }) => passed).length}/${checks.length}`}
      </span>
      <span role="cell" className={classes('text-sm text-dim max-md:hidden', hiddenTokens)}>
        {formatCount(usage.inputTokens + usage.cacheReadTokens)} / {formatCount(usage.outputTokens)}
      </span>
      <span role="cell">{formatUsd(record.costUsd)}</span>
      <span role="cell" className="text-dim max-md:hidden">
        {formatDurationShort(record.endedAt - record.startedAt)}
      </span>
    </div>
  )
}
