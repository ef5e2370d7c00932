import type { SprintEvent } from '../contract/events.ts'
import type { Ports } from '../runtime/ports.ts'
import type { SprintStore } from '../storage/sprint/sprint-store.ts'
import { sprintEventsFolder } from '../storage/state/sprint-folder.ts'
import { EventLog } from './event-log.ts'

/** Higher than the number of events that a backend of version 0.1 derived from a journal and stored for a sprint. */
const firstSeqOfOldSprint = 1_000_001

export interface SprintEvents {
  readonly record: (event: SprintEvent) => void
  readonly drained: NonNullable<Ports['drained']>
  /** Resolves when all events are written. */
  readonly close: () => Promise<void>
}

type SprintEventsOptions = {
  readonly sprintDir: string
  readonly store: Pick<SprintStore, 'current'>
  readonly now: () => number
}

/**
 * Opens the event log of a sprint that this process runs: the same kind of log as that of an agent in the fleet. `ralph watch` and
 * `ralph serve` read it. It is not synced: the journal has what a sprint needs after a power cut.
 */
export async function openSprintEvents({ sprintDir, store, now }: SprintEventsOptions): Promise<SprintEvents> {
  const firstSeq = store.current().stats.startedAt === null ? 1 : firstSeqOfOldSprint
  const log = await EventLog.open(sprintEventsFolder(sprintDir), { firstSeq, sync: 'never' })
  return {
    record: (event) => {
      log.add({ at: now(), event, attempt: findAttemptName(event), rev: store.current().rev })
      // The journal has the whole history.
      log.forget(log.lastSeq())
    },
    drained: () => log.drained(),
    close: () => log.close(),
  }
}

const findAttemptName = (event: SprintEvent): string | undefined =>
  event.type === 'agent' || event.type === 'attempt-started'
    ? `attempts/${event.iteration}-${event.attempt}`
    : undefined
