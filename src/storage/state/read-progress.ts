import type { Progress } from '../../contract/progress.ts'
import { reopenCompleted } from './import-progress.ts'
import { readJournal, type Fold } from './journal.ts'

type ProgressLocation = { readonly sprintDir: string; readonly fold: Fold; readonly shownRev?: number | undefined }

/** Reads the state of the sprint from its journal, else from a PROGRESS.yaml without one. Writes nothing. */
export async function readProgress({ sprintDir, fold, shownRev }: ProgressLocation): Promise<Progress | undefined> {
  const recovered = await readJournal(sprintDir, fold, shownRev)
  if (recovered) return recovered.progress
  // YAML is a third of what `ralph status` would have to load.
  const { readProgressFile } = await import('./progress-file.ts')
  const progress = await readProgressFile(sprintDir)
  return progress && reopenCompleted(progress)
}
