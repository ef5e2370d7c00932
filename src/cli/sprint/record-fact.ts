import type { Progress } from '../../contract/progress.ts'
import type { Fact } from '../../loop/core/fact.ts'
import { openSprintStore } from '../../storage/sprint/sprint-store.ts'
import type { Io } from '../io/io.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import { requireProgress } from './sprint-state.ts'

/** Records a fact in a sprint that is not running. */
export async function recordFact(sprintDir: string, fact: Fact, io: Io): Promise<Progress> {
  const opened = await openSprintStore({ sprintDir, fold: applyFactToProgress, now: io.now })
  if (!opened) return requireProgress(sprintDir, io)
  try {
    const next = applyFactToProgress(opened.progress, fact)
    await opened.store.save(next, fact)
    return next
  } finally {
    await opened.store.close()
  }
}
