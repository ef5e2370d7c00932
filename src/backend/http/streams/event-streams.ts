import type { AccessLevel } from '../../../contract/fleet/user.ts'
import { effectiveLevel } from '../calls/access.ts'
import type { ApiCaller } from '../calls/call.ts'
import { openEventByteStream, type EventByteStream } from './event-byte-stream.ts'
import { isLater, itemMatches, type Feed, type Filter, type FeedItem } from '../../feed/feed.ts'
import { formatFrame } from '../../feed/frame.ts'
import { createFrameJoiner, type JoinFrames } from './frame-joiner.ts'

export type EventStreamRequest = {
  readonly who: ApiCaller
  /** Rechecked periodically; undefined once the user has lost access. */
  readonly whoNow: () => Promise<ApiCaller | undefined>
  readonly query: Filter
  /** The client's last position. */
  readonly after: string | undefined
  readonly signal: AbortSignal
  /** Closes the connection at once and drops unread bytes. */
  readonly destroy: () => void
}

export interface EventStreams {
  /** Streams everything the user may read as server-sent events, starting with what was missed. */
  readonly stream: (request: EventStreamRequest) => Promise<Response>
  readonly viewers: () => number
  readonly close: () => void
}

export type EventStreamsDeps = {
  readonly feed: Feed
  /** The user's access level on each agent. */
  readonly levels: (who: ApiCaller) => Promise<ReadonlyMap<string, AccessLevel> | undefined>
  readonly log: (error: unknown) => void
  readonly times?: Partial<EventTimes> | undefined
}

export type EventTimes = {
  /** A client that reads nothing between two heartbeats is disconnected. */
  readonly beatMs: number
  /** How long a disabled user may still see events. */
  readonly recheckMs: number
}

type StreamClient = Pick<EventStreamRequest, 'query' | 'whoNow'> & {
  readonly line: EventByteStream
  readonly destroy: () => void
  who: ApiCaller
  levels: ReadonlyMap<string, AccessLevel>
  isBehind: boolean
  /** New items that arrive while missed ones are being read. */
  pendingItems: FeedItem[] | undefined
  /** Position up to which the client has everything. */
  position: string | undefined
  readAtBeat: number
}

const defaultEventTimes: EventTimes = { beatMs: 15_000, recheckMs: 30_000 }
/** A client with more unread bytes than this reads the rest from the database, at its own pace. */
const maxUnreadBytes = 256 * 1024
const heartbeat = new TextEncoder().encode(':\n\n')
const greetingFrame = new TextEncoder().encode('retry: 1000\n\n')
const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }

/** Serves all clients from one feed reader, with a bounded buffer per client. */
export function createEventStreams({ feed, levels, log, times }: EventStreamsDeps): EventStreams {
  const { beatMs, recheckMs } = { ...defaultEventTimes, ...times }
  const viewers = new Set<StreamClient>()

  const fallBehind = (viewer: StreamClient, after: string) => {
    catchUp(viewer, after, feed).catch((error: unknown) => {
      log(error)
      viewer.destroy()
    })
  }
  const deliver = (viewer: StreamClient, items: readonly FeedItem[], join: JoinFrames) => {
    if (viewer.isBehind) return void viewer.pendingItems?.push(...items)
    for (const chunk of chunkItems(items)) {
      sendItems(viewer, chunk, join)
      if (viewer.line.unreadBytes() > maxUnreadBytes)
        return fallBehind(viewer, viewer.position ?? chunk.at(-1)?.id ?? '')
    }
  }
  const stopFeed = feed.subscribe({
    onItems: (items, join = createFrameJoiner()) => viewers.forEach((viewer) => deliver(viewer, items, join)),
    filters: () => [...viewers].map(({ query }) => query),
  })
  const beat = setInterval(() => viewers.forEach((viewer) => createHeartbeat(viewer, feed)), beatMs)
  const recheck = runPeriodically(recheckMs, () => recheckClients(viewers, { levels, feed }).catch(log))

  return {
    viewers: () => viewers.size,
    close: () => {
      clearInterval(beat)
      recheck.stop()
      stopFeed()
      viewers.forEach(({ line }) => line.end())
    },
    stream: async ({ who, whoNow, query, after, signal, destroy: cut }) => {
      const line = openEventByteStream(() => viewers.delete(viewer))
      const viewer: StreamClient = {
        who,
        whoNow,
        query,
        line,
        levels: (await levels(who)) ?? new Map(),
        destroy: () => {
          cut()
          line.end()
        },
        isBehind: false,
        pendingItems: undefined,
        position: undefined,
        readAtBeat: 0,
      }
      line.send(greetingFrame)
      if (!signal.aborted) viewers.add(viewer)
      signal.addEventListener('abort', () => line.end(), { once: true })
      if (after === undefined) sendPosition(viewer, feed)
      else fallBehind(viewer, after)
      return new Response(line.stream, { headers })
    },
  }
}

/** Sequential, so that other queries wait for at most one of these. */
async function recheckClients(
  viewers: ReadonlySet<StreamClient>,
  { levels, feed }: Pick<EventStreamsDeps, 'levels' | 'feed'>,
): Promise<void> {
  for (const viewer of viewers) {
    const who = await viewer.whoNow()
    const now = who && (await levels(who))
    if (!who || !now) {
      viewer.destroy()
      continue
    }
    const hasSameRights = who.user.role === viewer.who.user.role && sameLevels(now, viewer.levels)
    Object.assign(viewer, { who, levels: now })
    if (!hasSameRights)
      viewer.line.send(formatFrame({ id: clientPosition(viewer, feed), change: { type: 'start-over' } }))
  }
}

const sameLevels = (a: StreamClient['levels'], b: StreamClient['levels']): boolean =>
  a.size === b.size && [...a].every(([agentId, level]) => b.get(agentId) === level)

function runPeriodically(pauseMs: number, run: () => Promise<void>): { readonly stop: () => void } {
  let isRunning = false
  const timer = setInterval(() => {
    if (isRunning) return
    isRunning = true
    void run().finally(() => (isRunning = false))
  }, pauseMs)
  return { stop: () => clearInterval(timer) }
}

function createHeartbeat(viewer: StreamClient, feed: Feed): void {
  const { line } = viewer
  if (line.unreadBytes() > 0 && line.readBytes() === viewer.readAtBeat) return viewer.destroy()
  viewer.readAtBeat = line.readBytes()
  if (viewer.isBehind) line.send(heartbeat)
  else sendPosition(viewer, feed)
}

const sendPosition = (viewer: StreamClient, feed: Feed): void =>
  viewer.line.send(formatFrame({ id: clientPosition(viewer, feed), change: { type: 'here' } }))

/**
 * The position up to which the client has received everything. A client that lags behind is at the last item it
 * received.
 */
function clientPosition({ isBehind, position: own }: StreamClient, feed: Feed): string | undefined {
  if (isBehind) return undefined
  const shared = feed.position()
  return shared === undefined || (own !== undefined && isLater(own, shared)) ? own : shared
}

/**
 * Sends missed items as fast as the client reads them, and new items afterwards: a client that disconnects in between
 * resumes from its last ID, so nothing before that ID may be missing.
 */
async function catchUp(viewer: StreamClient, after: string, feed: Feed): Promise<void> {
  const { line, query } = viewer
  viewer.isBehind = true
  viewer.position = undefined
  await line.drained()
  const id = await feed.startOver(after, query)
  if (id !== undefined) line.send(formatFrame({ id, change: { type: 'start-over' } }))
  let at = id ?? after
  for (;;) {
    const held: FeedItem[] = []
    viewer.pendingItems = held
    const { items, upTo } = await feed.since(at, query)
    viewer.pendingItems = undefined
    if (upTo === at) return resumeLive(viewer, { position: at, held, feed })
    at = upTo
    sendItems(viewer, items)
    await line.drained()
  }
}

function resumeLive(
  viewer: StreamClient,
  { position, held, feed }: { readonly position: string; readonly held: readonly FeedItem[]; readonly feed: Feed },
): void {
  // Items of the feed up to here were among the missed ones, and are not sent again.
  viewer.position = position
  viewer.isBehind = false
  sendItems(viewer, held)
  sendPosition(viewer, feed)
}

/** Check for backpressure after this many frames. */
const maxFramesPerWrite = 20

function* chunkItems(items: readonly FeedItem[]): Generator<readonly FeedItem[]> {
  for (let from = 0; from < items.length; from += maxFramesPerWrite) yield items.slice(from, from + maxFramesPerWrite)
}

function sendItems(viewer: StreamClient, items: readonly FeedItem[], join = createFrameJoiner()): void {
  const bytes = join(items.flatMap((one) => frameFor(viewer, one) ?? []))
  if (bytes) viewer.line.send(bytes)
}

function frameFor(viewer: StreamClient, item: FeedItem): Uint8Array | undefined {
  if (viewer.position !== undefined && !isLater(item.id, viewer.position)) return undefined
  viewer.position = undefined
  if (!itemMatches(viewer.query, item)) return undefined
  const level = item.agentId === undefined ? undefined : effectiveLevel(viewer.who, viewer.levels.get(item.agentId))
  return item.agentId !== undefined && level === undefined ? undefined : item.frame(level)
}
