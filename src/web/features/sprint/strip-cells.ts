import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord, LiveIteration, SprintStatus } from '../../../contract/progress.ts'
import { judgeLive, summarizeSprint } from '../../../contract/sprint-summary.ts'
import { formatDurationShort, formatAge } from '../../../words/durations.ts'
import { iterationBadge, stageWords } from '../../../words/sprint-state.ts'
import { verdictBadge, type VerdictBadge, shortMode, describeVerdict } from '../../../words/verdict.ts'

export type StripCell =
  | {
      readonly kind: 'iteration'
      readonly number: number
      readonly seen: VerdictBadge
      readonly caption: string
      /** Its cost, or its time if no iteration has a cost, relative to the largest one shown: 0 to 1. */
      readonly weight: number
      readonly record: IterationRecord | undefined
      readonly live: LiveIteration | undefined
      readonly sentence: string
    }
  /** Idle time, which must not look like work. */
  | { readonly kind: 'gap'; readonly key: string; readonly label: string; readonly waiting: boolean }

/** A pause between two iterations that is long enough to show. */
const minGapMs = 2 * 60_000

/** All iterations in order, with the waits between them. */
export function createStripCells(
  iterations: readonly IterationRecord[],
  { progress }: Pick<FleetSprint, 'progress'>,
  now: number,
): StripCell[] {
  const weigh = createScale([...iterations, ...progress.live], now)
  const cells: StripCell[] = []
  let before: IterationRecord | undefined
  for (const record of iterations) {
    cells.push(...gapCell(before, record.startedAt), iterationCell(record, weigh(record)))
    before = record
  }
  for (const live of progress.live.filter(({ number }) => number > (before?.number ?? 0)))
    cells.push(...gapCell(before, live.startedAt), liveIterationCell(progress.status, live, weigh(live)))
  const { parked } = summarizeSprint(progress)
  if (parked)
    cells.push({
      kind: 'gap',
      key: 'parked',
      label: `limit · ${formatAge(Math.max(0, parked.until - now))}`,
      waiting: true,
    })
  return cells
}

type WeightParts = Pick<IterationRecord, 'startedAt' | 'costUsd'> & { readonly endedAt?: number }

function createScale(all: readonly WeightParts[], now: number): (each: WeightParts) => number {
  const readCost = ({ costUsd }: WeightParts): number => costUsd ?? 0
  const readTime = ({ startedAt, endedAt = now }: WeightParts): number => Math.max(0, endedAt - startedAt)
  const read = all.some((each) => readCost(each) > 0) ? readCost : readTime
  const largest = Math.max(Number.EPSILON, ...all.map(read))
  return (each) => read(each) / largest
}

const iterationCell = (record: IterationRecord, weight: number): StripCell => ({
  kind: 'iteration',
  number: record.number,
  seen: verdictBadge(record),
  caption: [record.number, shortMode[record.mode]].filter((part) => part !== '').join(' '),
  weight,
  record,
  live: undefined,
  sentence: `Iteration ${record.number} ${describeVerdict(record)}, ${formatDurationShort(record.endedAt - record.startedAt)}`,
})

function liveIterationCell(status: SprintStatus, live: LiveIteration, weight: number): StripCell {
  const seen = iterationBadge(status, { verdict: judgeLive(status, live), changed: live.changed })
  const doing = seen.sign === 'now' ? `is running: ${stageWords[live.stage]}` : seen.words
  return {
    kind: 'iteration',
    number: live.number,
    seen,
    caption: [live.number, shortMode[live.mode]].filter((part) => part !== '').join(' '),
    weight,
    record: undefined,
    live,
    sentence: `Iteration ${live.number} ${doing}`,
  }
}

function gapCell(before: IterationRecord | undefined, startedAt: number): StripCell[] {
  const ms = before ? startedAt - before.endedAt : 0
  if (!before || ms < minGapMs) return []
  const label = before.verdict === 'needs-human' ? 'asked' : 'waited'
  return [{ kind: 'gap', key: `gap-${before.number}`, label: `${label} · ${formatAge(ms)}`, waiting: false }]
}
