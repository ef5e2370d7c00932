import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import { readProgress } from '../../storage/state/read-progress.ts'
import { progressPath } from '../../storage/state/sprint-folder.ts'
import type { Io } from '../io/io.ts'
import { displayPath } from '../io/display-path.ts'

/** The progress of the sprint; undefined if it was never compiled. */
export const loadProgress = (sprintDir: string): Promise<Progress | undefined> =>
  readProgress({ sprintDir, fold: applyFactToProgress })

/** The progress of the sprint, or an error that says how to create it. */
export async function requireProgress(sprintDir: string, io: Io): Promise<Progress> {
  const progress = await loadProgress(sprintDir)
  if (progress) return progress
  throw new RalphError('PROGRESS_NOT_FOUND', 'PROGRESS.yaml not found', {
    place: { file: displayPath(progressPath(sprintDir), io) },
    hint: `create it with: ralph compile ${displayPath(sprintDir, io)}`,
  })
}
