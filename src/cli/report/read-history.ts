import { createJournalReader } from '../../host/journal-reader.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import { foldHistory, type SprintHistory } from './history.ts'

/** Reads the history of a sprint from its whole journal, or from PROGRESS.yaml if there is none. */
export async function readHistory(sprintDir: string): Promise<SprintHistory | undefined> {
  // First, because it refuses a damaged journal with a reason.
  const progress = await loadProgress(sprintDir)
  const records = await createJournalReader(sprintDir, 'first').look()
  return foldHistory(records, records.length === 0 ? progress : undefined)
}
