import { Progress } from '../contract/progress.ts'
import { advance } from '../loop/advance.ts'
import type { Fact } from '../loop/core/fact.ts'
import type { JournalRecord } from '../storage/state/journal-record.ts'

/** The progress after a fact, without its orders: how a journal is replayed. */
export const applyFactToProgress = (progress: Progress, fact: Fact): Progress => advance(progress, fact).progress

/** Applies one journal record to the progress; undefined if it changes nothing. */
export function applyRecord(
  progress: Progress | undefined,
  { kind, data, at }: JournalRecord,
): { readonly progress: Progress; readonly at: number } | undefined {
  if (kind === 'snapshot') return { progress: Progress.parse(data), at: Date.parse(at) }
  if (kind !== 'fact' || !progress) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the checksum says that we wrote it, and we write facts
  const fact = data as Fact
  return { progress: applyFactToProgress(progress, fact), at: fact.at }
}
