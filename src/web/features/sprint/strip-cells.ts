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
      /** Relative to the most expensive iteration shown: 0 to 1. */
      readonly cost: number
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
  const dearest = Math.max(
    0.01,
    ...iterations.map(({ costUsd }) => costUsd ?? 0),
    ...progress.live.map(({ costUsd }) => costUsd ?? 0),
  )
  const cells: StripCell[] = []
  let before: IterationRecord | undefined
  for (const record of iterations) {
    cells.push(...gapCell(before, record.startedAt), iterationCell(record, dearest))
    before = record
  }
  for (const live of progress.live.filter(({ number }) => number > (before?.number ?? 0)))
    cells.push(...gapCell(before, live.startedAt), liveIterationCell(progress.status, live, dearest))
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

const iterationCell = (record: IterationRecord, dearest: number): StripCell => ({
  kind: 'iteration',
  number: record.number,
  seen: verdictBadge(record),
  caption: [record.number, shortMode[record.mode]].filter((part) => part !== '').join(' '),
  cost: (record.costUsd ?? 0) / dearest,
  record,
  live: undefined,
  sentence: `Iteration ${record.number} ${describeVerdict(record)}, ${formatDurationShort(record.endedAt - record.startedAt)}`,
})

function liveIterationCell(status: SprintStatus, live: LiveIteration, dearest: number): StripCell {
  const seen = iterationBadge(status, { verdict: judgeLive(status, live), changed: live.changed })
  const doing = seen.sign === 'now' ? `is running: ${stageWords[live.stage]}` : seen.words
  return {
    kind: 'iteration',
    number: live.number,
    seen,
    caption: [live.number, shortMode[live.mode]].filter((part) => part !== '').join(' '),
    cost: (live.costUsd ?? 0) / dearest,
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
