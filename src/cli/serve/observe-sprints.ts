import { errorMessage } from '../../contract/errors.ts'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listOpenObservations, readObservation, saveObservation } from '../../backend/sprints/observed-sprints.ts'
import type { Fleet } from '../../backend/fleet/fleet.ts'
import type { LoggedEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { serialize } from '../../platform/async.ts'
import { fileSignature, isFolder, listFolder } from '../../platform/files/files.ts'
import { journalFolder } from '../../storage/state/journal.ts'
import { progressPath } from '../../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { watchSprint } from '../live/watch-sprint.ts'
import { observedRowId, progressToShow, progressWithoutFolder } from './observed-sprint.ts'
import { readObservedSprint, type SprintReading } from './read-observed-sprint.ts'
import { debounce } from './debounce.ts'

export type ObserverOptions = {
  readonly fleet: Fleet
  readonly agentId: string
  /** The folder that holds the sprint folders. */
  readonly sprints: string
  readonly log: (text: string, about: Readonly<Record<string, unknown>>) => void
}

export interface SprintObserver {
  /** The folder of a sprint; undefined if it does not exist. */
  readonly findFolder: (sprintId: string) => string | undefined
  /** Reads a sprint now; resolves when its rows are up to date. */
  readonly refresh: (sprintId: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** The poll interval for folders of sprints that are not running: two stat calls each. */
const pollIntervalMs = 1000
const writeIntervalMs = 500
/** The retry delay per sprint while the database cannot be written. */
const maxPendingEvents = 20_000

/** Keeps the rows of all sprints of a project in step with their folders. Only reads there, and takes no lock. */
export function observeSprints(observing: ObserverOptions): SprintObserver {
  const { agentId, sprints } = observing
  const known = new Map<string, KnownSprint>()
  const leaving = new AbortController()

  let before: string | undefined

  const look = (sprint: KnownSprint): Promise<void> => sprint.enqueue(() => refreshSprintRows(sprint, observing))
  const round = async () => {
    const names = (await listFolder(sprints)).filter((name) => isFolder(join(sprints, name)))
    const found = names.map((name) => ensureKnownSprint(known, observedRowId(agentId, name), join(sprints, name)))
    if (names.join('/') !== before) await forgetMissingSprints(known, new Set(names), observing)
    before = names.join('/')
    const changed = found.filter((sprint) => !sprint.following && sprintSignature(sprint.folder) !== sprint.signature)
    for (const sprint of changed.toSorted(byNewest)) if (!leaving.signal.aborted) await look(sprint)
  }
  const going = (async () => {
    while (!leaving.signal.aborted) {
      await round().catch((error: unknown) => observing.log(errorMessage(error), { doing: 'observing sprints' }))
      await sleep(pollIntervalMs, undefined, { signal: leaving.signal }).catch(() => {})
    }
  })()
  return {
    findFolder: (sprintId) => known.get(sprintId)?.folder,
    refresh: async (sprintId) => {
      const sprint = known.get(sprintId)
      if (!sprint) return
      // Its process is gone, and the next poll will notice.
      if (readSprintOwner(sprint.folder) === undefined) await sprint.following
      if (!sprint.following) await look(sprint)
    },
    close: async () => {
      leaving.abort()
      await going
      await Promise.all([...known.values()].map(stopFollowing))
    },
  }
}

type KnownSprint = {
  readonly id: string
  readonly folder: string
  /** Signature of the files at the last read. */
  signature?: string
  /** The last error: logged once. */
  lastError?: string
  /** One read at a time. */
  readonly enqueue: ReturnType<typeof serialize>
  readonly leaving: AbortController
  /** The sprint is running and is followed to its end. */
  following?: Promise<void> | undefined
}

function ensureKnownSprint(known: Map<string, KnownSprint>, id: string, folder: string): KnownSprint {
  const sprint = known.get(id) ?? { id, folder, enqueue: serialize(), leaving: new AbortController() }
  known.set(id, sprint)
  return sprint
}

async function stopFollowing(sprint: KnownSprint): Promise<void> {
  sprint.leaving.abort()
  await sprint.enqueue(async () => {})
  await sprint.following
}

/** Folders that are gone, now or since the last start: their rows stay but do not claim to be running. */
async function forgetMissingSprints(
  known: Map<string, KnownSprint>,
  names: ReadonlySet<string>,
  { fleet, agentId }: ObserverOptions,
) {
  for (const sprint of [...known.values()].filter(({ folder }) => !names.has(basename(folder)))) {
    await stopFollowing(sprint)
    known.delete(sprint.id)
  }
  for (const { id: sprintId, progress } of await listOpenObservations(fleet, agentId)) {
    if (known.has(sprintId)) continue
    await saveObservation(fleet, agentId, { sprintId, progress: progressWithoutFolder(progress), events: [] })
  }
}

/** Changes with every shown progress, and whenever a journal segment is added or removed. */
const sprintSignature = (folder: string): string =>
  `${fileSignature(progressPath(folder))} ${fileSignature(journalFolder(folder))}`

const byNewest = (a: KnownSprint, b: KnownSprint): number => (a.folder < b.folder ? 1 : -1)

/** Never rejects: a damaged sprint must not hide the others. It is read again when its files change. */
async function refreshSprintRows(sprint: KnownSprint, observing: ObserverOptions): Promise<void> {
  const { fleet, agentId, log } = observing
  const { id: sprintId, folder } = sprint
  sprint.signature = sprintSignature(folder)
  try {
    const reading = await readObservedSprint(folder, await readObservation(fleet, sprintId))
    if (!reading) return
    const progress = progressToShow(reading.progress, reading.owner)
    const { events, isDifferent: replaced } = reading
    await saveObservation(fleet, agentId, { sprintId, progress, events, replaced })
    if (reading.owner === 'running') sprint.following = followSprint(sprint, reading, observing)
  } catch (error) {
    logSprintError(sprint, `the sprint in ${folder} cannot be shown: ${errorMessage(error)}`, log)
  }
}

/** Until the process that runs it is gone. */
async function followSprint(sprint: KnownSprint, reading: SprintReading, observing: ObserverOptions): Promise<void> {
  const { fleet, agentId, log } = observing
  const { signal } = sprint.leaving
  let { progress } = reading
  let waiting: LoggedEvent[] = []
  const write = async (shown: Progress) => {
    const events = waiting
    waiting = []
    try {
      await saveObservation(fleet, agentId, { sprintId: sprint.id, progress: shown, events })
    } catch (error) {
      waiting = [...events, ...waiting].slice(-maxPendingEvents)
      log(errorMessage(error), { doing: `writing sprint ${sprint.id}` })
    }
  }
  const writing = debounce(writeIntervalMs, () => write(progress))
  try {
    await watchSprint({
      sprintDir: sprint.folder,
      progress,
      after: reading.lastSeq,
      signal,
      onProgress: (next) => {
        if (next.rev > progress.rev) writing.soon()
        progress = next
      },
      show: (event) => {
        waiting.push(event)
        writing.soon()
      },
    })
  } catch (error) {
    logSprintError(sprint, `the sprint in ${sprint.folder} cannot be followed: ${errorMessage(error)}`, log)
  }
  await writing.end()
  await write(progressToShow(progress, signal.aborted ? 'running' : 'gone'))
  sprint.following = undefined
  // The next poll finds whatever came after the last read.
  delete sprint.signature
}

function logSprintError(sprint: KnownSprint, text: string, log: ObserverOptions['log']): void {
  if (sprint.lastError !== text) log(text, { doing: 'observing sprints' })
  sprint.lastError = text
}
