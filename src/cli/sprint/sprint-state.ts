import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import { readPlainText } from '../../platform/files/files.ts'
import { formatProgress } from '../../storage/state/progress-text.ts'
import { readProgress } from '../../storage/state/read-progress.ts'
import { progressPath } from '../../storage/state/sprint-folder.ts'
import type { Io } from '../io/io.ts'
import { displayPath } from '../io/display-path.ts'

/** The progress of the sprint; undefined if it was never compiled. */
export const loadProgress = (sprintDir: string): Promise<Progress | undefined> =>
  readProgress({ sprintDir, fold: applyFactToProgress })

/** The progress with which the next run starts: with what was edited in PROGRESS.yaml since the last one. */
export async function loadEditedProgress(sprintDir: string, io: Io): Promise<Progress | undefined> {
  const progress = await loadProgress(sprintDir)
  return progress && applyEdits(progress, sprintDir, io)
}

/** Returns the same object if PROGRESS.yaml has no edits. */
export async function applyEdits(progress: Progress, sprintDir: string, io: Io): Promise<Progress> {
  if (readPlainText(progressPath(sprintDir)) === formatProgress(progress)) return progress
  // YAML loads only if there is an edit to parse.
  const { previewEdits } = await import('../../storage/edits/preview-edits.ts')
  return previewEdits(progress, { sprintDir, fold: applyFactToProgress, at: io.now() })
}

/** The progress of the sprint, or an error that says how to create it. */
export async function requireProgress(sprintDir: string, io: Io): Promise<Progress> {
  const progress = await loadProgress(sprintDir)
  if (progress) return progress
  throw progressNotFound(sprintDir, io)
}

export const progressNotFound = (sprintDir: string, io: Io): RalphError =>
  new RalphError('PROGRESS_NOT_FOUND', 'this sprint has not run yet', {
    place: { file: displayPath(progressPath(sprintDir), io) },
    hint: `start it with: ralph run ${displayPath(sprintDir, io)}, or only create PROGRESS.yaml with: ralph compile ${displayPath(sprintDir, io)}`,
  })
