import type { LoggedEvent } from '../../contract/events.ts'
import type { StoredObservation } from '../../backend/sprints/observed-sprints.ts'
import type { Progress } from '../../contract/progress.ts'
import { EventReader } from '../../host/event-reader.ts'
import { sprintEventsFolder } from '../../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import { isDifferentSprint } from './observed-sprint.ts'

export type SprintReading = {
  readonly progress: Progress
  readonly owner: 'running' | 'gone'
  readonly isDifferent: boolean
  /** Those that are not stored yet, at most `maxEvents`. */
  readonly events: readonly LoggedEvent[]
  /** The number of the last event that was read or stored. */
  readonly lastSeq: number
}

const maxEvents = 5000

/** Reads a sprint and its events since it was last stored. Undefined if it was never compiled; rejects if it is damaged. */
export async function readObservedSprint(
  sprintDir: string,
  stored: StoredObservation | undefined,
): Promise<SprintReading | undefined> {
  // Before the journal, so that the owner's last write is still read.
  const owner = readSprintOwner(sprintDir) === undefined ? 'gone' : 'running'
  const progress = await loadProgress(sprintDir)
  if (!progress) return undefined
  const isDifferent = stored !== undefined && isDifferentSprint(stored.progress, progress)
  const after = isDifferent ? 0 : (stored?.seq ?? 0)
  const records = await new EventReader(sprintEventsFolder(sprintDir), after).read()
  const events = records.map(({ event }) => event).slice(-maxEvents)
  return { progress, owner, isDifferent, events, lastSeq: events.at(-1)?.seq ?? after }
}
