import type { AccessLevel } from '../../contract/fleet/user.ts'
import { levelOf } from './access.ts'
import type { Who } from './call.ts'
import { openEventLine, type EventLine } from './event-line.ts'
import { isLater, wants, type Feed, type Filter, type Told } from './feed.ts'
import { frame } from './frame.ts'
import { joiningFrames, type JoinFrames } from './join-frames.ts'

export type EventsRequest = {
  readonly who: Who
  /** Rechecked periodically; undefined once the user has lost access. */
  readonly whoNow: () => Promise<Who | undefined>
  readonly query: Filter
  /** The client's last position. */
  readonly after: string | undefined
  readonly signal: AbortSignal
  /** Closes the connection at once and drops unread bytes. */
  readonly cut: () => void
}

export interface Events {
  /** Streams everything the user may read as server-sent events, starting with what was missed. */
  readonly stream: (request: EventsRequest) => Promise<Response>
  readonly viewers: () => number
  readonly close: () => void
}

export type EventsDeps = {
  readonly feed: Feed
  /** The user's access level on each agent. */
  readonly levels: (who: Who) => Promise<ReadonlyMap<string, AccessLevel> | undefined>
  readonly log: (error: unknown) => void
  readonly times?: Partial<EventTimes> | undefined
}

export type EventTimes = {
  /** A client that reads nothing between two heartbeats is disconnected. */
  readonly beatMs: number
  /** How long a disabled user may still see events. */
  readonly recheckMs: number
}

type Viewer = Pick<EventsRequest, 'query' | 'whoNow'> & {
  readonly line: EventLine
  readonly cut: () => void
  who: Who
  levels: ReadonlyMap<string, AccessLevel>
  isBehind: boolean
  /** New items that arrive while missed ones are being read. */
  held: Told[] | undefined
  /** Position up to which the client has everything. */
  knows: string | undefined
  takenAtBeat: number
}

const usual: EventTimes = { beatMs: 15_000, recheckMs: 30_000 }
/** A client with more unread bytes than this reads the rest from the database, at its own pace. */
const mostWaiting = 256 * 1024
const heartbeat = new TextEncoder().encode(':\n\n')
const hello = new TextEncoder().encode('retry: 1000\n\n')
const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }

/** Serves all clients from one feed reader, with a bounded buffer per client. */
export function createEvents({ feed, levels, log, times }: EventsDeps): Events {
  const { beatMs, recheckMs } = { ...usual, ...times }
  const viewers = new Set<Viewer>()

  const fallBehind = (viewer: Viewer, after: string) => {
    catchUp(viewer, after, feed).catch((error: unknown) => {
      log(error)
      viewer.cut()
    })
  }
  const hear = (viewer: Viewer, told: readonly Told[], join: JoinFrames) => {
    if (viewer.isBehind) return void viewer.held?.push(...told)
    for (const some of parts(told)) {
      tell(viewer, some, join)
      if (viewer.line.waiting() > mostWaiting) return fallBehind(viewer, viewer.knows ?? some.at(-1)?.id ?? '')
    }
  }
  const stopFeed = feed.listen({
    hear: (told, join = joiningFrames()) => viewers.forEach((viewer) => hear(viewer, told, join)),
    filters: () => [...viewers].map(({ query }) => query),
  })
  const beat = setInterval(() => viewers.forEach((viewer) => beatOf(viewer, feed)), beatMs)
  const recheck = repeatedly(recheckMs, () => checkAll(viewers, { levels, feed }).catch(log))

  return {
    viewers: () => viewers.size,
    close: () => {
      clearInterval(beat)
      recheck.stop()
      stopFeed()
      viewers.forEach(({ line }) => line.end())
    },
    stream: async ({ who, whoNow, query, after, signal, cut }) => {
      const line = openEventLine(() => viewers.delete(viewer))
      const viewer: Viewer = {
        who,
        whoNow,
        query,
        line,
        levels: (await levels(who)) ?? new Map(),
        cut: () => {
          cut()
          line.end()
        },
        isBehind: false,
        held: undefined,
        knows: undefined,
        takenAtBeat: 0,
      }
      line.send(hello)
      if (!signal.aborted) viewers.add(viewer)
      signal.addEventListener('abort', () => line.end(), { once: true })
      if (after === undefined) sayHere(viewer, feed)
      else fallBehind(viewer, after)
      return new Response(line.stream, { headers })
    },
  }
}

/** Sequential, so that other queries wait for at most one of these. */
async function checkAll(
  viewers: ReadonlySet<Viewer>,
  { levels, feed }: Pick<EventsDeps, 'levels' | 'feed'>,
): Promise<void> {
  for (const viewer of viewers) {
    const who = await viewer.whoNow()
    const now = who && (await levels(who))
    if (!who || !now) {
      viewer.cut()
      continue
    }
    const mayTheSame = who.user.role === viewer.who.user.role && areSame(now, viewer.levels)
    Object.assign(viewer, { who, levels: now })
    if (!mayTheSame) viewer.line.send(frame({ id: whereIs(viewer, feed), change: { type: 'start-over' } }))
  }
}

const areSame = (a: Viewer['levels'], b: Viewer['levels']): boolean =>
  a.size === b.size && [...a].every(([agentId, level]) => b.get(agentId) === level)

function repeatedly(pauseMs: number, run: () => Promise<void>): { readonly stop: () => void } {
  let isRunning = false
  const timer = setInterval(() => {
    if (isRunning) return
    isRunning = true
    void run().finally(() => (isRunning = false))
  }, pauseMs)
  return { stop: () => clearInterval(timer) }
}

function beatOf(viewer: Viewer, feed: Feed): void {
  const { line } = viewer
  if (line.waiting() > 0 && line.taken() === viewer.takenAtBeat) return viewer.cut()
  viewer.takenAtBeat = line.taken()
  if (viewer.isBehind) line.send(heartbeat)
  else sayHere(viewer, feed)
}

const sayHere = (viewer: Viewer, feed: Feed): void =>
  viewer.line.send(frame({ id: whereIs(viewer, feed), change: { type: 'here' } }))

/**
 * The position up to which the client has received everything. A client that lags behind is at the last item it
 * received.
 */
function whereIs({ isBehind, knows }: Viewer, feed: Feed): string | undefined {
  if (isBehind) return undefined
  const heard = feed.position()
  return heard === undefined || (knows !== undefined && isLater(knows, heard)) ? knows : heard
}

/**
 * Sends missed items as fast as the client reads them, and new items afterwards: a client that disconnects in between
 * resumes from its last ID, so nothing before that ID may be missing.
 */
async function catchUp(viewer: Viewer, after: string, feed: Feed): Promise<void> {
  const { line, query } = viewer
  viewer.isBehind = true
  viewer.knows = undefined
  await line.drained()
  const id = await feed.startOver(after, query)
  if (id !== undefined) line.send(frame({ id, change: { type: 'start-over' } }))
  let at = id ?? after
  for (;;) {
    const held: Told[] = []
    viewer.held = held
    const { told, upTo } = await feed.since(at, query)
    viewer.held = undefined
    if (upTo === at) return goOn(viewer, { knows: at, held, feed })
    at = upTo
    tell(viewer, told)
    await line.drained()
  }
}

function goOn(
  viewer: Viewer,
  { knows, held, feed }: { readonly knows: string; readonly held: readonly Told[]; readonly feed: Feed },
): void {
  Object.assign(viewer, { knows, isBehind: false })
  tell(viewer, held)
  sayHere(viewer, feed)
}

/** Check for backpressure after this many frames. */
const mostAtOnce = 20

function* parts(told: readonly Told[]): Generator<readonly Told[]> {
  for (let from = 0; from < told.length; from += mostAtOnce) yield told.slice(from, from + mostAtOnce)
}

function tell(viewer: Viewer, told: readonly Told[], join = joiningFrames()): void {
  const bytes = join(told.flatMap((one) => frameFor(viewer, one) ?? []))
  if (bytes) viewer.line.send(bytes)
}

function frameFor(viewer: Viewer, told: Told): Uint8Array | undefined {
  if (viewer.knows !== undefined && !isLater(told.id, viewer.knows)) return undefined
  viewer.knows = undefined
  if (!wants(viewer.query, told)) return undefined
  const level = told.agentId === undefined ? undefined : levelOf(viewer.who, viewer.levels.get(told.agentId))
  return told.agentId !== undefined && level === undefined ? undefined : told.frame(level)
}
