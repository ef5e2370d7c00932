import type { HookTask, IterationRecord, Progress, Step } from '../../contract/progress.ts'
import type { JournalRecord } from '../../storage/state/journal-record.ts'
import type { SprintHistory, UsageLimitWait } from '../../words/report/report-data.ts'
import { applyRecord } from '../../host/apply-fact.ts'

/** Folds a journal from its beginning; undefined if it holds no state. `known`: the progress if there is no journal. */
export function foldHistory(records: readonly JournalRecord[], known?: Progress): SprintHistory | undefined {
  const iterations = new Map<number, IterationRecord>()
  const steps = new Map<string, Step>()
  const hooks = new Map<string, HookTask>()
  const waits = createWaitLog()
  let progress: Progress | undefined
  const take = (next: Progress, at: number) => {
    if (next.iterations !== progress?.iterations) for (const one of next.iterations) iterations.set(one.number, one)
    if (next.dynamicSteps !== progress?.dynamicSteps) for (const one of next.dynamicSteps) steps.set(one.id, one)
    if (next.hookTasks !== progress?.hookTasks)
      for (const one of next.hookTasks) hooks.set(`${one.iteration} ${one.hookId}`, one)
    waits.take(next, at)
    progress = next
  }
  if (known) take(known, known.stats.updatedAt ?? 0)
  for (const record of records) {
    const seen = applyRecord(progress, record)
    if (seen) take(seen.progress, seen.at)
  }
  if (!progress) return undefined
  return {
    progress,
    iterations: [...iterations.values()].toSorted((a, b) => a.number - b.number),
    steps: [...steps.values()].toSorted((a, b) => a.addedAt - b.addedAt || stepNumber(a) - stepNumber(b)),
    hookTasks: [...hooks.values()].toSorted((a, b) => a.iteration - b.iteration || a.spawnedAt - b.spawnedAt),
    waits: waits.all(),
  }
}

const stepNumber = ({ id }: Step): number => Number(/\d+$/.exec(id)?.[0] ?? 0)

function createWaitLog() {
  const done: UsageLimitWait[] = []
  let open: { readonly from: number; readonly reason: string; readonly planned: number } | undefined
  return {
    take({ parked }: Progress, at: number): void {
      if (parked && !open) open = { from: at, reason: parked.reason, planned: parked.until }
      if (parked || !open) return
      done.push({ from: open.from, until: at, reason: open.reason })
      open = undefined
    },
    all: (): UsageLimitWait[] =>
      open ? [...done, { from: open.from, until: open.planned, reason: open.reason }] : done,
  }
}
