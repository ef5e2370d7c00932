import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { advance } from '../../loop/advance.ts'
import type { BaselineKeeper } from '../../runtime/ports.ts'
import type { SprintStore } from '../../storage/sprint/sprint-store.ts'

type EditsToAccept = {
  readonly store: SprintStore
  readonly keeper: BaselineKeeper
  readonly observe: (event: SprintEvent) => void
  readonly now: () => number
}

/** Measures later claims against the tests as the user has edited them since the last run. Returns the next state. */
export async function acceptTestEdits(
  progress: Progress,
  { store, keeper, observe, now }: EditsToAccept,
): Promise<Progress> {
  const { proofBaseline: baseline, doneWhen: checks = [] } = progress
  if (!baseline) return progress
  const request = { checks, baseline, onStart: () => {}, onEnd: () => {} }
  const retaken = await keeper.retake(request, new AbortController().signal)
  if (!retaken) return progress
  const { paths, contested, baseline: proofBaseline } = retaken
  if (contested.length > 0)
    observe({
      type: 'note',
      level: 'warning',
      text: `an agent had changed these too, so those of the start still count: ${contested.join(', ')}`,
    })
  if (paths.length === 0) return progress
  observe({ type: 'note', level: 'info', text: `your edits count from now on: ${paths.join(', ')}` })
  const fact = { type: 'baseline-retaken' as const, at: now(), proofBaseline }
  const { progress: next } = advance(progress, fact)
  await store.save(next, fact)
  return next
}
