import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoggedEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { applyRecord } from '../../host/apply-fact.ts'
import { EventReader } from '../../host/event-reader.ts'
import type { EventRecord } from '../../host/event-segments.ts'
import { createJournalReader } from '../../host/journal-reader.ts'
import type { Fact } from '../../loop/core/fact.ts'
import { exists } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import type { SprintRun } from '../../runtime/run-sprint.ts'
import { postRequest, type RunRequest } from '../../storage/sprint/requests.ts'
import { sprintEventsFolder } from '../../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'

const pollIntervalMs = 250
/** The watcher checks the lock once per this many polls. */
const pollsPerOwnerCheck = 4

export type WatchOptions = {
  readonly sprintDir: string
  readonly progress: Progress
  readonly show: (event: LoggedEvent) => void
  readonly onProgress: (progress: Progress) => void
  /** The number of the last event that the caller knows; by default, the watcher starts at the beginning of the running attempts. */
  readonly after?: number | undefined
  /** Ends the watcher, never the sprint. */
  readonly signal: AbortSignal
}

export type WatchResult = { readonly progress: Progress; readonly owner: 'gone' | 'running' }

/** Follows the sprint of another process until that process exits or `signal` aborts. Only reads. */
export async function watchSprint(options: WatchOptions): Promise<WatchResult> {
  const { sprintDir, show, onProgress, signal, after } = options
  const journal = createJournalReader(sprintDir, 'last')
  const events = new EventReader(sprintEventsFolder(sprintDir), after)
  const selectNew = after === undefined ? createHistoryFilter(options.progress) : keepAll
  let { progress } = options
  const poll = async () => {
    // Before the journal: the progress is then at least as new as the events.
    const records = selectNew(await events.read())
    for (const record of await journal.readNew()) progress = applyRecord(progress, record)?.progress ?? progress
    onProgress(progress)
    for (const { event } of records) show(event)
  }
  for (let polls = 1; !signal.aborted; polls++) {
    const isGone = polls % pollsPerOwnerCheck === 0 && isSprintOwnerGone(sprintDir, progress)
    await poll()
    if (isGone) return { progress, owner: 'gone' }
    await sleep(pollIntervalMs, undefined, { signal }).catch(() => {})
  }
  return { progress, owner: 'running' }
}

const keepAll = (records: readonly EventRecord[]): readonly EventRecord[] => records

/** Drops events before the running attempts; if none runs, drops all that the progress already includes. */
function createHistoryFilter({ rev, live }: Progress) {
  const running = new Set(
    live.filter(({ stage }) => stage === 'agent').map(({ number, attempt }) => `attempts/${number}-${attempt}`),
  )
  const isShown = (record: EventRecord) => (record.rev ?? 0) > rev || running.has(record.attempt ?? '')
  let hasReachedStart = false
  return (records: readonly EventRecord[]): readonly EventRecord[] => {
    if (hasReachedStart) return records
    const start = records.findIndex(isShown)
    hasReachedStart = start !== -1
    return hasReachedStart ? records.slice(start) : []
  }
}

/**
 * An agent may have deleted the lock with other files, so a sprint in progress without a lock still counts as running.
 */
const isSprintOwnerGone = (sprintDir: string, { status }: Progress): boolean =>
  readSprintOwner(sprintDir) === undefined &&
  (status !== 'in-progress' || exists(join(stateFolder(sprintDir), '.lock')))

/** Controls a run in another process through its request files. */
export function createRemoteRun(sprintDir: string, print: (text: string) => void, now: () => number): SprintRun {
  const reportNoResponse = () =>
    print('the process that runs the sprint does not respond; it will process the request when it resumes')
  return {
    send: (fact) => {
      const request = toRequest(fact)
      if (request)
        postRequest(sprintDir, request, now()).then(
          (wasAccepted) => wasAccepted || reportNoResponse(),
          reportNoResponse,
        )
    },
    done: new Promise(() => {}),
  }
}

function toRequest(fact: Fact): RunRequest | undefined {
  if (fact.type === 'stop-requested') return { type: 'stop', as: fact.as, when: fact.when }
  if (fact.type === 'stop-withdrawn') return { type: 'withdraw-stop' }
  return fact.type === 'told' ? { type: 'tell', text: fact.text, now: fact.now } : undefined
}
