import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clipped } from '../../agents-server/event-journal.ts'
import { openSightings, storedSprint, takeSighting } from '../../backend/fleet/observed.ts'
import type { Fleet } from '../../backend/fleet/ports.ts'
import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { fileSignature, isFolder, listFolder } from '../../platform/files/files.ts'
import { journalFolder } from '../../storage/state/journal.ts'
import { progressPath } from '../../storage/state/sprint-folder.ts'
import { ownerOf } from '../../storage/state/sprint-lock.ts'
import type { Io } from '../io/io.ts'
import { watchSprint } from '../live/watch-sprint.ts'
import { redactFor } from '../io/secrets.ts'
import { rowId, shownProgress, withoutFolder, type Happened } from './observe-events.ts'
import { readSprint, type Reading } from './observe-reading.ts'
import { paced } from './observe-pace.ts'

export type Observing = {
  readonly fleet: Fleet
  readonly agentId: string
  /** The folder that holds the sprint folders. */
  readonly sprints: string
  readonly io: Io
  readonly log: (text: string, about: Readonly<Record<string, unknown>>) => void
}

export interface Observer {
  /** The folder of a sprint; undefined if it does not exist. */
  readonly folderOf: (sprintId: string) => string | undefined
  /** Reads a sprint now; resolves when its rows are up to date. */
  readonly look: (sprintId: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** The poll interval for folders of sprints that are not running: two stat calls each. */
const lookEveryMs = 1000
const writeEveryMs = 500
/** The retry delay per sprint while the database cannot be written. */
const mostWaiting = 20_000

/** Keeps the rows of all sprints of a project in step with their folders. Only reads there, and takes no lock. */
export function observeSprints(observing: Observing): Observer {
  const { agentId, sprints } = observing
  const known = new Map<string, Known>()
  const leaving = new AbortController()

  let before: string | undefined

  const look = (sprint: Known): Promise<void> => {
    sprint.turn = sprint.turn.then(() => lookAt(sprint, observing))
    return sprint.turn
  }
  const round = async () => {
    const names = (await listFolder(sprints)).filter((name) => isFolder(join(sprints, name)))
    const found = names.map((name) => entry(known, rowId(agentId, name), join(sprints, name)))
    if (names.join('/') !== before) await forget(known, new Set(names), observing)
    before = names.join('/')
    const changed = found.filter((sprint) => !sprint.following && signatureOf(sprint.folder) !== sprint.signature)
    for (const sprint of changed.toSorted(byNewest)) if (!leaving.signal.aborted) await look(sprint)
  }
  const going = (async () => {
    while (!leaving.signal.aborted) {
      await round().catch((error: unknown) => observing.log(messageOf(error), { doing: 'observing sprints' }))
      await sleep(lookEveryMs, undefined, { signal: leaving.signal }).catch(() => {})
    }
  })()
  return {
    folderOf: (sprintId) => known.get(sprintId)?.folder,
    look: async (sprintId) => {
      const sprint = known.get(sprintId)
      if (!sprint) return
      // Its process is gone, and the next poll will notice.
      if (ownerOf(sprint.folder) === undefined) await sprint.following
      if (!sprint.following) await look(sprint)
    },
    close: async () => {
      leaving.abort()
      await going
      await Promise.all([...known.values()].map(leave))
    },
  }
}

type Known = {
  readonly id: string
  readonly folder: string
  /** Signature of the files at the last read. */
  signature?: string
  /** The last error: logged once. */
  trouble?: string
  turn: Promise<void>
  readonly leaving: AbortController
  /** The sprint is running and is followed to its end. */
  following?: Promise<void> | undefined
}

function entry(known: Map<string, Known>, id: string, folder: string): Known {
  const sprint = known.get(id) ?? { id, folder, turn: Promise.resolve(), leaving: new AbortController() }
  known.set(id, sprint)
  return sprint
}

async function leave(sprint: Known): Promise<void> {
  sprint.leaving.abort()
  await sprint.turn
  await sprint.following
}

/** Folders that are gone, now or since the last start: their rows stay but do not claim to be running. */
async function forget(known: Map<string, Known>, names: ReadonlySet<string>, { fleet, agentId }: Observing) {
  for (const sprint of [...known.values()].filter(({ folder }) => !names.has(basename(folder)))) {
    await leave(sprint)
    known.delete(sprint.id)
  }
  for (const { id: sprintId, progress } of await openSightings(fleet, agentId)) {
    if (known.has(sprintId)) continue
    await takeSighting(fleet, agentId, { sprintId, progress: withoutFolder(progress), events: [] })
  }
}

/** Changes with every shown progress, and whenever a journal segment is added or removed. */
const signatureOf = (folder: string): string =>
  `${fileSignature(progressPath(folder))} ${fileSignature(journalFolder(folder))}`

const byNewest = (a: Known, b: Known): number => (a.folder < b.folder ? 1 : -1)

/** Never rejects: a damaged sprint must not hide the others. It is read again when its files change. */
async function lookAt(sprint: Known, observing: Observing): Promise<void> {
  const { fleet, agentId, io, log } = observing
  const { id: sprintId, folder } = sprint
  sprint.signature = signatureOf(folder)
  try {
    const reading = await readSprint(folder, await storedSprint(fleet, sprintId), io)
    if (!reading) return
    const { shown: progress, events, anew } = reading
    await takeSighting(fleet, agentId, { sprintId, progress, events, anew })
    if (reading.owner === 'running') sprint.following = follow(sprint, reading, observing)
  } catch (error) {
    complain(sprint, `the sprint in ${folder} cannot be shown: ${messageOf(error)}`, log)
  }
}

/** Until the process that runs it is gone. */
async function follow(sprint: Known, reading: Reading, observing: Observing): Promise<void> {
  const { fleet, agentId, io, log } = observing
  const { signal } = sprint.leaving
  let { progress } = reading
  let waiting: Happened[] = []
  const isNew = unseen(reading.stored)
  const write = async (shown: Progress) => {
    const events = waiting
    waiting = []
    try {
      await takeSighting(fleet, agentId, { sprintId: sprint.id, progress: shown, events })
    } catch (error) {
      waiting = [...events, ...waiting].slice(-mostWaiting)
      log(messageOf(error), { doing: `writing sprint ${sprint.id}` })
    }
  }
  const writing = paced(writeEveryMs, () => write(progress))
  try {
    await watchSprint({
      sprintDir: sprint.folder,
      progress,
      redact: redactFor(sprint.folder, io),
      signal,
      onProgress: (next) => {
        if (next.rev > progress.rev) writing.soon()
        progress = next
      },
      show: (event, at) => {
        if (!isNew(event)) return
        waiting.push({ event: clipped(event) ?? event, at })
        writing.soon()
      },
    })
  } catch (error) {
    complain(sprint, `the sprint in ${sprint.folder} cannot be followed: ${messageOf(error)}`, log)
  }
  await writing.end()
  await write(shownProgress(progress, signal.aborted ? 'running' : 'gone'))
  sprint.following = undefined
  // The next poll finds whatever came after the last read.
  delete sprint.signature
}

function complain(sprint: Known, text: string, log: Observing['log']): void {
  if (sprint.trouble !== text) log(text, { doing: 'observing sprints' })
  sprint.trouble = text
}

/** A running agent's output is read from its beginning, so skip the events that are already stored. */
function unseen(stored: ReadonlyMap<string, number>): (event: SprintEvent) => boolean {
  const left = new Map(stored)
  return (event) => {
    if (event.type !== 'agent') return true
    const key = `${event.iteration}-${event.attempt}`
    const count = left.get(key) ?? 0
    if (count > 0) left.set(key, count - 1)
    return count === 0
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
