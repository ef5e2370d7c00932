import { journalReader } from '../live/watch-journal.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import { historyOf, type History } from './history.ts'

/** Reads the history of a sprint from its whole journal, or from PROGRESS.yaml if there is none. */
export async function readHistory(sprintDir: string): Promise<History | undefined> {
  // First, because it refuses a damaged journal with a reason.
  const progress = await loadProgress(sprintDir)
  const records = await journalReader(sprintDir, 'first').look()
  return historyOf(records, records.length === 0 ? progress : undefined)
}
