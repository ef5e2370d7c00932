import { RalphError } from '../contract/errors.ts'
import type { Progress } from '../contract/progress.ts'
import { advance } from '../loop/advance.ts'
import type { Fact } from '../loop/fact.ts'
import { progressPath } from '../storage/progress-file.ts'
import { openSprintStore, readProgress } from '../storage/sprint-store.ts'
import { shownPath } from './compile-sprint.ts'
import type { Io } from './io.ts'

export const fold = (progress: Progress, fact: Fact): Progress => advance(progress, fact).progress

/** Where the sprint stands; undefined if it was never compiled. */
export const loadProgress = (sprintDir: string): Promise<Progress | undefined> => readProgress({ sprintDir, fold })

/** Where the sprint stands, or an error that says how to get there. */
export async function requireProgress(sprintDir: string, io: Io): Promise<Progress> {
  const progress = await loadProgress(sprintDir)
  if (progress) return progress
  throw new RalphError('PROGRESS_NOT_FOUND', 'PROGRESS.yaml not found', {
    place: { file: shownPath(progressPath(sprintDir), io) },
    hint: `write it with: ralph compile ${shownPath(sprintDir, io)}`,
  })
}

/** Tells a sprint that nobody runs what has happened. */
export async function recordFact(sprintDir: string, fact: Fact, io: Io): Promise<Progress> {
  const opened = await openSprintStore({ sprintDir, fold, now: io.now }, async (known) => known)
  if (!opened) return requireProgress(sprintDir, io)
  try {
    const next = fold(opened.progress, fact)
    await opened.store.save(next, fact)
    return next
  } finally {
    await opened.store.close()
  }
}
