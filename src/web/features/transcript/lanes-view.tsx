import { classes } from '../../ui/classes.ts'
import { formatDurationShort } from '../../../words/durations.ts'
import type { IterationLanes, TimeSpan } from './lanes.ts'

/** Two lanes on a time axis: how the time of an iteration was spent. */
export const LanesView = ({ lanes }: { lanes: IterationLanes }) => (
  <div className="space-y-1.5 border-b border-line px-3.5 py-2.5">
    <LaneRow name="Model" spans={lanes.model} whole={lanes} ms={lanes.modelMs} fill="bg-accent" />
    <LaneRow name="Tools" spans={lanes.tools} whole={lanes} ms={lanes.toolsMs} fill="bg-faint" />
  </div>
)

type LaneProps = {
  readonly name: string
  readonly spans: readonly TimeSpan[]
  readonly whole: TimeSpan
  readonly ms: number
  readonly fill: string
}

const LaneRow = ({ name, spans, whole, ms, fill }: LaneProps) => {
  const length = Math.max(1, whole.to - whole.from)
  return (
    <div className="grid grid-cols-[46px_1fr_64px] items-center gap-2.5 text-sm text-dim">
      <span>{name}</span>
      <span
        role="img"
        aria-label={`${name}: ${formatDurationShort(ms)}`}
        className="relative h-3 overflow-hidden rounded-[3px] bg-sunken"
      >
        {spans.map(({ from, to }) => (
          <span
            key={from}
            title={formatDurationShort(to - from)}
            className={classes('absolute inset-y-0 min-w-0.5 rounded-[3px]', fill)}
            style={{ left: `${((from - whole.from) / length) * 100}%`, width: `${((to - from) / length) * 100}%` }}
          />
        ))}
      </span>
      <span className="text-right">{formatDurationShort(ms)}</span>
    </div>
  )
}
