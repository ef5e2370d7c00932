import { join } from 'node:path'
import { truncateEvent } from '../../agents-server/event-journal.ts'
import type { StoredObservation } from '../../backend/sprints/observed-sprints.ts'
import type { Progress } from '../../contract/progress.ts'
import { attemptFiles } from '../../platform/processes/attempt-folder.ts'
import { readModifiedAt } from '../../platform/files/line-reader.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import type { Io } from '../io/io.ts'
import { findIterationAgent, replayRecord } from '../live/watch-events.ts'
import { createJournalReader } from '../live/watch-journal.ts'
import { listRecordedAttempts, openAttemptReader, type RecordedAttempt } from '../report/attempts.ts'
import { createSprintRedactor } from '../io/secrets.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import {
  firstUnknownIteration,
  insertAgentEvents,
  isDifferentSprint,
  newestAttempts,
  progressToShow,
  type ObservedAttempt,
  type ObservedEvent,
} from './observe-events.ts'

export type SprintReading = {
  /** The progress in the journal. */
  readonly progress: Progress
  /** The progress to show. */
  readonly shown: Progress
  readonly owner: 'running' | 'gone'
  readonly isDifferent: boolean
  readonly events: readonly ObservedEvent[]
  /** Counts of events already stored for running attempts, by iteration and attempt: `3-1`. */
  readonly stored: ReadonlyMap<string, number>
}

const maxIterations = 20
const maxEvents = 5000

/**
 * Reads what happened in a sprint since it was last stored. Undefined if it was never compiled; rejects if it is
 * damaged.
 */
export async function readObservedSprint(
  sprintDir: string,
  stored: StoredObservation | undefined,
  io: Io,
): Promise<SprintReading | undefined> {
  // Before the journal, so that the owner's last write is still read.
  const owner = readSprintOwner(sprintDir) === undefined ? 'gone' : 'running'
  const base = await loadProgress(sprintDir)
  if (!base) return undefined
  const records = await createJournalReader(sprintDir, 'last').look()
  const seen = replayJournal(records)
  const progress = seen.at(-1)?.progress ?? base
  const anew = stored !== undefined && isDifferentSprint(stored.progress, progress)
  const known = anew ? undefined : stored
  const from = firstUnknownIteration(known?.progress, progress, maxIterations)
  const told = seen
    .filter(({ progress: { rev } }) => !known || rev > known.progress.rev)
    .flatMap(({ events, at }) => events.map((event) => ({ event, at })))
    .filter(({ event }) => !('iteration' in event) || event.iteration >= from)
  const live = owner === 'running' ? progress.live.filter(({ stage }) => stage === 'agent') : []
  const attempts = await readObservedAttempts(
    { sprintDir, progress, from, live, said: known?.eventCounts ?? new Map() },
    io,
  )
  return {
    progress,
    shown: progressToShow(progress, owner),
    owner,
    isDifferent: anew,
    events: insertAgentEvents(told, newestAttempts(attempts.over, maxEvents)),
    stored: attempts.stored,
  }
}

function replayJournal(records: Awaited<ReturnType<ReturnType<typeof createJournalReader>['look']>>) {
  const seen: NonNullable<ReturnType<typeof replayRecord>>[] = []
  for (const record of records) {
    const next = replayRecord(seen.at(-1)?.progress, record)
    if (next) seen.push(next)
  }
  return seen
}

type AttemptsQuery = {
  readonly sprintDir: string
  readonly progress: Progress
  readonly from: number
  /** Iterations whose agent is running: the follower reads their last attempt. */
  readonly live: Progress['live']
  readonly said: ReadonlyMap<string, number>
}

async function readObservedAttempts({ sprintDir, progress, from, live, said }: AttemptsQuery, io: Io) {
  const found = (await listRecordedAttempts(sprintDir)).filter(({ iteration }) => iteration >= from)
  const left = new Map(said)
  const over: ObservedAttempt[] = []
  for (const [index, folder] of found.entries()) {
    const { iteration, attempt } = folder
    const isFollowed =
      found[index + 1]?.iteration !== iteration &&
      live.some((now) => now.number === iteration && now.attempt === attempt)
    if (isFollowed) continue
    const all = await readObservedAttempt(folder, progress, sprintDir, io)
    const key = `${iteration}-${attempt}`
    const skipped = Math.min(left.get(key) ?? 0, all.length)
    left.set(key, (left.get(key) ?? 0) - skipped)
    over.push({ iteration, attempt, said: all.slice(skipped) })
  }
  return { over, stored: left }
}

async function readObservedAttempt(
  folder: RecordedAttempt,
  progress: Progress,
  sprintDir: string,
  io: Io,
): Promise<ObservedEvent[]> {
  const { iteration, attempt } = folder
  const at = readModifiedAt(join(folder.folder, attemptFiles.stdout))
  const said: ObservedEvent[] = []
  const how = { agent: findIterationAgent(progress, iteration), redact: createSprintRedactor(sprintDir, io) }
  const reading = await openAttemptReader(folder, how, (inner) => {
    const event = { type: 'agent' as const, iteration, attempt, event: inner }
    if (said.length < maxEvents) said.push({ event: truncateEvent(event) ?? event, at })
  })
  await reading.end()
  return said
}
