import { useVirtualizer } from '@tanstack/react-virtual'
import { Check, CircleHelp, Flag, Pause, X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Card, CardHead } from '../../ui/card.tsx'
import { classes } from '../../ui/classes.ts'
import { Tooltip } from '../../ui/tooltip.tsx'
import { formatCount } from '../../../words/counts.ts'
import { formatDurationShort } from '../../../words/durations.ts'
import { formatUsd } from '../../../words/money.ts'
import { describeVerdict, type VerdictSign } from '../../../words/verdict.ts'
import type { StripCell } from './strip-cells.ts'

type IterationStripProps = {
  readonly cells: readonly StripCell[]
  readonly chosen: number | undefined
  readonly onChoose: (iteration: number | undefined) => void
}

const cellWidth = (cell: StripCell | undefined): number => (cell?.kind === 'gap' ? 98 : 51)

/** One cell per iteration, all of equal width: a short one must be as easy to hit as a long one. */
export function IterationStrip({ cells, chosen, onChoose }: IterationStripProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    horizontal: true,
    count: cells.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => cellWidth(cells[index]),
    getItemKey: (index) => cellKey(cells[index], index),
    overscan: 20,
    paddingStart: 14,
    paddingEnd: 14,
  })
  const last = cells.length - 1
  useEffect(() => virtual.scrollToIndex(last, { align: 'end' }), [virtual, last])
  return (
    <Card label="Iterations" className="mb-3.5">
      <CardHead
        aside={
          chosen === undefined ? (
            <span className="text-sm text-faint max-sm:hidden">Click an iteration to filter</span>
          ) : (
            <button
              type="button"
              className="text-sm text-accent-text hover:underline"
              onClick={() => onChoose(undefined)}
            >
              Show all iterations
            </button>
          )
        }
      >
        Iterations
      </CardHead>
      {cells.length === 0 ? (
        <p className="px-3.5 py-6 text-dim">The first iteration has not started.</p>
      ) : (
        <div ref={scroller} className="overflow-x-auto">
          <div className="relative h-[92px]" style={{ width: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, key, start }) => {
              const cell = cells[index]
              return (
                cell && (
                  <div key={key} className="absolute top-3.5" style={{ left: start, width: cellWidth(cell) - 5 }}>
                    {cell.kind === 'gap' ? (
                      <StripGap cell={cell} />
                    ) : (
                      <IterationCell cell={cell} chosen={chosen === cell.number} onChoose={onChoose} />
                    )}
                  </div>
                )
              )
            })}
          </div>
        </div>
      )}
    </Card>
  )
}

const cellKey = (cell: StripCell | undefined, index: number): string | number =>
  cell?.kind === 'iteration' ? cell.number : (cell?.key ?? index)

/** Only the hatching pulses: a label that fades loses its contrast. */
const StripGap = ({ cell }: { cell: Extract<StripCell, { kind: 'gap' }> }) => (
  <div className="relative grid h-[30px] place-items-center text-[10.5px] whitespace-nowrap text-warn">
    <div
      className={classes(
        'hatched absolute inset-0 rounded-md border border-dashed border-warn-fill',
        cell.waiting && 'pulse',
      )}
    />
    <span className="relative rounded bg-panel px-1">{cell.label}</span>
  </div>
)

const looks: Readonly<Record<VerdictSign, string>> = {
  progress: 'bg-ok-bg text-ok border-transparent',
  goal: 'bg-ok-fill text-panel border-transparent',
  same: 'text-faint border-line',
  no: 'bg-bad-bg text-bad border-transparent',
  asks: 'bg-warn-bg text-warn border-transparent',
  stopped: 'text-faint border-line',
  now: 'border-accent border-[1.5px] text-accent-text',
}

const glyphs: Readonly<Record<VerdictSign, React.ReactNode>> = {
  progress: <Check className="size-3.5" strokeWidth={2.5} />,
  goal: <Flag className="size-3.5" strokeWidth={2.5} />,
  same: <span className="text-lg leading-none font-semibold">~</span>,
  no: <X className="size-3.5" strokeWidth={2.5} />,
  asks: <CircleHelp className="size-3.5" strokeWidth={2.25} />,
  stopped: <Pause className="size-3.5" />,
  now: <span className="pulse size-2 rounded-full bg-accent" />,
}

type IterationCellProps = {
  readonly cell: Extract<StripCell, { kind: 'iteration' }>
  readonly chosen: boolean
  readonly onChoose: (iteration: number | undefined) => void
}

const IterationCell = ({ cell, chosen, onChoose }: IterationCellProps) => (
  <Tooltip content={<IterationTooltip cell={cell} />}>
    <button
      type="button"
      aria-pressed={chosen}
      onClick={() => onChoose(chosen ? undefined : cell.number)}
      className="block w-full rounded-md text-center text-dim"
    >
      <span
        aria-hidden
        className={classes(
          'grid h-[30px] place-items-center rounded-md border',
          looks[cell.seen.sign],
          chosen && 'outline-2 outline-offset-1 outline-text',
        )}
      >
        {glyphs[cell.seen.sign]}
      </span>
      <span className="block text-[10.5px] leading-4 whitespace-nowrap">{cell.caption}</span>
      <span className="sr-only">{cell.sentence}</span>
      <span
        className="mx-auto mt-1 block w-[22px] rounded-b-[2px] bg-accent opacity-55"
        style={{ height: 2 + Math.round(cell.weight * 16) }}
      />
    </button>
  </Tooltip>
)

function IterationTooltip({ cell }: { cell: Extract<StripCell, { kind: 'iteration' }> }) {
  const { record, number } = cell
  if (!record) return <>{cell.sentence}</>
  const { usage } = record
  return (
    <span className="block space-y-0.5">
      <span className="block font-medium">
        Iteration {number} {describeVerdict(record)}
      </span>
      {record.summary !== undefined && <span className="block text-dim">{record.summary}</span>}
      <span className="block text-faint">
        {formatDurationShort(record.endedAt - record.startedAt)} · {formatUsd(record.costUsd)} ·{' '}
        {formatCount(usage.inputTokens + usage.cacheReadTokens)} in, {formatCount(usage.outputTokens)} out
        {record.attempts > 1 && ` · ${record.attempts} attempts`}
      </span>
    </span>
  )
}
