import { join } from 'node:path'
import { clipped } from '../../agents-server/event-journal.ts'
import type { Stored } from '../../backend/fleet/observed.ts'
import type { Progress } from '../../contract/progress.ts'
import { attemptFiles } from '../../platform/processes/attempt-folder.ts'
import { writtenAt } from '../../platform/files/recorded-file.ts'
import { ownerOf } from '../../storage/state/sprint-lock.ts'
import type { Io } from '../io/io.ts'
import { agentAt, seeRecord } from '../live/watch-events.ts'
import { journalReader } from '../live/watch-journal.ts'
import { attemptsOf, openAttempt, type AttemptFolder } from '../report/attempts.ts'
import { redactFor } from '../io/secrets.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import { firstUnknown, inOrder, isAnew, newest, shownProgress, type Attempt, type Happened } from './observe-events.ts'

export type Reading = {
  /** The progress in the journal. */
  readonly progress: Progress
  /** The progress to show. */
  readonly shown: Progress
  readonly owner: 'running' | 'gone'
  readonly anew: boolean
  readonly events: readonly Happened[]
  /** Counts of events already stored for running attempts, by iteration and attempt: `3-1`. */
  readonly stored: ReadonlyMap<string, number>
}

const mostIterations = 20
const mostEvents = 5000

/**
 * Reads what happened in a sprint since it was last stored. Undefined if it was never compiled; rejects if it is
 * damaged.
 */
export async function readSprint(sprintDir: string, stored: Stored | undefined, io: Io): Promise<Reading | undefined> {
  // Before the journal, so that the owner's last write is still read.
  const owner = ownerOf(sprintDir) === undefined ? 'gone' : 'running'
  const base = await loadProgress(sprintDir)
  if (!base) return undefined
  const records = await journalReader(sprintDir, 'last').look()
  const seen = replay(records)
  const progress = seen.at(-1)?.progress ?? base
  const anew = stored !== undefined && isAnew(stored.progress, progress)
  const known = anew ? undefined : stored
  const from = firstUnknown(known?.progress, progress, mostIterations)
  const told = seen
    .filter(({ progress: { rev } }) => !known || rev > known.progress.rev)
    .flatMap(({ events, at }) => events.map((event) => ({ event, at })))
    .filter(({ event }) => !('iteration' in event) || event.iteration >= from)
  const live = owner === 'running' ? progress.live.filter(({ stage }) => stage === 'agent') : []
  const attempts = await readAttempts({ sprintDir, progress, from, live, said: known?.said ?? new Map() }, io)
  return {
    progress,
    shown: shownProgress(progress, owner),
    owner,
    anew,
    events: inOrder(told, newest(attempts.over, mostEvents)),
    stored: attempts.stored,
  }
}

function replay(records: Awaited<ReturnType<ReturnType<typeof journalReader>['look']>>) {
  const seen: NonNullable<ReturnType<typeof seeRecord>>[] = []
  for (const record of records) {
    const next = seeRecord(seen.at(-1)?.progress, record)
    if (next) seen.push(next)
  }
  return seen
}

type Wanted = {
  readonly sprintDir: string
  readonly progress: Progress
  readonly from: number
  /** Iterations whose agent is running: the follower reads their last attempt. */
  readonly live: Progress['live']
  readonly said: ReadonlyMap<string, number>
}

async function readAttempts({ sprintDir, progress, from, live, said }: Wanted, io: Io) {
  const found = (await attemptsOf(sprintDir)).filter(({ iteration }) => iteration >= from)
  const left = new Map(said)
  const over: Attempt[] = []
  for (const [index, folder] of found.entries()) {
    const { iteration, attempt } = folder
    const isFollowed =
      found[index + 1]?.iteration !== iteration &&
      live.some((now) => now.number === iteration && now.attempt === attempt)
    if (isFollowed) continue
    const all = await readAttempt(folder, progress, sprintDir, io)
    const key = `${iteration}-${attempt}`
    const skipped = Math.min(left.get(key) ?? 0, all.length)
    left.set(key, (left.get(key) ?? 0) - skipped)
    over.push({ iteration, attempt, said: all.slice(skipped) })
  }
  return { over, stored: left }
}

async function readAttempt(folder: AttemptFolder, progress: Progress, sprintDir: string, io: Io): Promise<Happened[]> {
  const { iteration, attempt } = folder
  const at = writtenAt(join(folder.folder, attemptFiles.stdout))
  const said: Happened[] = []
  const how = { agent: agentAt(progress, iteration), redact: redactFor(sprintDir, io) }
  const reading = await openAttempt(folder, how, (inner) => {
    const event = { type: 'agent' as const, iteration, attempt, event: inner }
    if (said.length < mostEvents) said.push({ event: clipped(event) ?? event, at })
  })
  await reading.end()
  return said
}
