import type { Sprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord, LiveIteration } from '../../../contract/progress.ts'
import { duration, roughly } from '../../words/numbers.ts'
import { seen, type Seen, shortMode, verdictSentence } from '../../words/verdict.ts'

export type Cell =
  | {
      readonly kind: 'iteration'
      readonly number: number
      readonly seen: Seen
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
const worthShowingMs = 2 * 60_000

/** All iterations in order, with the waits between them. */
export function cellsOf(
  iterations: readonly IterationRecord[],
  { progress }: Pick<Sprint, 'progress'>,
  now: number,
): Cell[] {
  const dearest = Math.max(
    0.01,
    ...iterations.map(({ costUsd }) => costUsd ?? 0),
    ...progress.live.map(({ costUsd }) => costUsd ?? 0),
  )
  const cells: Cell[] = []
  let before: IterationRecord | undefined
  for (const record of iterations) {
    cells.push(...gap(before, record.startedAt), cellOf(record, dearest))
    before = record
  }
  for (const live of progress.live.filter(({ number }) => number > (before?.number ?? 0)))
    cells.push(...gap(before, live.startedAt), liveCell(live, dearest))
  if (progress.parked)
    cells.push({
      kind: 'gap',
      key: 'parked',
      label: `limit · ${roughly(Math.max(0, progress.parked.until - now))}`,
      waiting: true,
    })
  return cells
}

const cellOf = (record: IterationRecord, dearest: number): Cell => ({
  kind: 'iteration',
  number: record.number,
  seen: seen(record),
  caption: [record.number, shortMode[record.mode]].filter((part) => part !== '').join(' '),
  cost: (record.costUsd ?? 0) / dearest,
  record,
  live: undefined,
  sentence: `Iteration ${record.number} ${verdictSentence(record)}, ${duration(record.endedAt - record.startedAt)}`,
})

const liveCell = (live: LiveIteration, dearest: number): Cell => ({
  kind: 'iteration',
  number: live.number,
  seen: seen({}),
  caption: [live.number, shortMode[live.mode]].filter((part) => part !== '').join(' '),
  cost: (live.costUsd ?? 0) / dearest,
  record: undefined,
  live,
  sentence: `Iteration ${live.number} is running: ${stageWords[live.stage]}`,
})

function gap(before: IterationRecord | undefined, startedAt: number): Cell[] {
  const ms = before ? startedAt - before.endedAt : 0
  if (!before || ms < worthShowingMs) return []
  const label = before.verdict === 'needs-human' ? 'asked' : 'waited'
  return [{ kind: 'gap', key: `gap-${before.number}`, label: `${label} · ${roughly(ms)}`, waiting: false }]
}

export const stageWords: Readonly<Record<LiveIteration['stage'], string>> = {
  agent: 'agent working',
  waiting: 'waiting to retry',
  checks: 'running checks',
  gate: 'running its gate',
  review: 'second agent reviewing',
  hooks: 'running hooks',
  checkpoint: 'creating a checkpoint',
}
