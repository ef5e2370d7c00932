import type { Progress } from '../../contract/progress.ts'
import { readPlainText } from '../../platform/files/files.ts'
import { readProgressAt, type Fold } from '../state/journal.ts'
import { formatProgress, parseRev } from '../state/progress-text.ts'
import { progressPath } from '../state/sprint-folder.ts'
import { readExternalEdit } from './external-edit.ts'

export type EditPreview = { readonly sprintDir: string; readonly fold: Fold; readonly at: number }

/**
 * Applies what was edited in PROGRESS.yaml since the last run, as the next run will. Steps keep the ids of the file, which scripts
 * use. Writes nothing.
 */
export async function previewEdits(progress: Progress, { sprintDir, fold, at }: EditPreview): Promise<Progress> {
  const text = readPlainText(progressPath(sprintDir)) ?? ''
  const rev = parseRev(text)
  const base = rev === progress.rev ? progress : await readProgressAt(sprintDir, fold, rev)
  if (!base || formatProgress(base) === text) return progress
  const edit = readExternalEdit(text, () => base)
  if (edit.kind !== 'edited' || edit.edits.length === 0) return progress
  const edited = fold(progress, { type: 'edited', at, edits: edit.edits, refused: [] })
  return base === progress ? { ...edited, dynamicSteps: edit.seen.dynamicSteps } : edited
}
