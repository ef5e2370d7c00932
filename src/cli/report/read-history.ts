import { journalReader } from '../live/watch-journal.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import { historyOf, type History } from './history.ts'

/** The history of a sprint from its whole journal, else what a PROGRESS.yaml without one shows. */
export async function readHistory(sprintDir: string): Promise<History | undefined> {
  // First, since it refuses a damaged journal with the reason.
  const progress = await loadProgress(sprintDir)
  const records = await journalReader(sprintDir, 'first').look()
  return historyOf(records, records.length === 0 ? progress : undefined)
}
