import type { SprintEvent } from '../../src/contract/events.ts'
import type { Progress } from '../../src/contract/progress.ts'
import { applyFactToProgress } from '../../src/host/apply-fact.ts'
import { openSprintEvents } from '../../src/host/sprint-events.ts'
import { openSprintStore } from '../../src/storage/sprint/sprint-store.ts'
import { after, buildProgress, emittedEvents, noon, type Play } from './builders.ts'

/** Opens a sprint and its event log as `ralph run` does, for a test that plays facts instead of running agents. */
export async function openOwnedSprint(sprintDir: string, overrides: Partial<Progress> = {}) {
  const options = { sprintDir, fold: applyFactToProgress, now: () => noon }
  const opened = await openSprintStore(options, buildProgress(overrides))
  if (!opened) throw new Error('not opened')
  const { store } = opened
  const log = await openSprintEvents({ ...options, store })
  const events: SprintEvent[] = []
  const emit = (event: SprintEvent) => {
    events.push(event)
    log.record(event)
  }
  return {
    /** All events so far. */
    events,
    progress: store.current,
    play: async (...plays: readonly Play[]): Promise<void> => {
      for (const one of plays) {
        const fact = typeof one === 'function' ? one(store.current()) : one
        const next = after(store.current(), fact)
        await store.save(next.progress, fact)
        emittedEvents(next.orders).forEach(emit)
      }
    },
    /** The first attempt of an iteration starts. */
    startAgent: (iteration = 1) => emit({ type: 'attempt-started', iteration, attempt: 1, agent: 'claude' }),
    say: (text: string, iteration = 1) => emit({ type: 'agent', iteration, attempt: 1, event: { kind: 'text', text } }),
    close: async (): Promise<void> => {
      await log.close()
      await store.close()
    },
  }
}
