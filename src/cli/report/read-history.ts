import { RalphError } from '../../contract/errors.ts'
import { createJournalReader, readIterationRecords } from '../../host/journal-reader.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import type { PagedHistory } from '../../words/report/report-data.ts'
import { foldHistory } from './history.ts'

/** Which iterations to show: this many before a number; absent: the newest. */
export type HistoryPage = { readonly size: number; readonly before?: number | undefined }

/** Reads a part of the history of a sprint from its journal, or from PROGRESS.yaml if there is none. */
export async function readHistory(sprintDir: string, page: HistoryPage): Promise<PagedHistory | undefined> {
  // First, because it refuses a damaged journal with a reason.
  const progress = await loadProgress(sprintDir)
  if (!progress) return undefined
  const last = progress.stats.currentIteration
  const before = Math.min(page.before ?? last + 1, last + 1)
  if (before < 1) throw new RalphError('USAGE', '--before expects an iteration number')
  const from = Math.max(1, before - page.size)
  const isWhole = from === 1 && before > last
  const records = isWhole
    ? await createJournalReader(sprintDir, 'first').readNew()
    : await readIterationRecords(sprintDir, { from, before })
  const history = foldHistory(records, records.length === 0 ? progress : undefined)
  if (!history || isWhole) return history
  const isShown = (number: number) => number >= from && number < before
  return {
    ...history,
    progress,
    iterations: history.iterations.filter(({ number }) => isShown(number)),
    hookTasks: history.hookTasks.filter(({ iteration }) => isShown(iteration)),
    earlier: from > 1 ? from : undefined,
  }
}
