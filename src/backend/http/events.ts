import type { AccessLevel } from '../../contract/fleet/user.ts'
import { levelOf } from './access.ts'
import type { Who } from './call.ts'
import type { Feed, Told } from './feed.ts'
import { frame } from './frame.ts'

export type EventsRequest = {
  readonly who: Who
  readonly query: Filter
  /** Last-Event-ID. */
  readonly after: string | undefined
  readonly signal: AbortSignal
}

/** With an agent or a sprint everything that happens in it; without one only rows that have changed. */
type Filter = { readonly agentId?: string | undefined; readonly sprintId?: string | undefined }

export interface Events {
  /** Server-sent events of everything that this person may read; what was missed first. */
  readonly stream: (request: EventsRequest) => Promise<Response>
  readonly viewers: () => number
  readonly close: () => void
}

export type EventsDeps = {
  readonly feed: Feed
  /** What somebody has on each agent; undefined if they may not even sign in any more. */
  readonly levels: (who: Who) => Promise<ReadonlyMap<string, AccessLevel> | undefined>
  readonly log: (error: unknown) => void
}

type Viewer = {
  readonly who: Who
  readonly query: Filter
  readonly line: Line
  levels: ReadonlyMap<string, AccessLevel>
}

const heartbeatMs = 15_000
/** How long somebody who was locked out may still see things. */
const recheckMs = 30_000

/** One reader of the feed for all who watch. */
export function createEvents({ feed, levels, log }: EventsDeps): Events {
  const viewers = new Set<Viewer>()
  const stopFeed = feed.listen((told) => {
    for (const viewer of viewers) for (const one of told) tell(viewer, one)
  })
  const beat = setInterval(() => viewers.forEach(({ line }) => line.send(':\n\n')), heartbeatMs)
  const recheck = setInterval(() => viewers.forEach((viewer) => void checkAgain(viewer).catch(log)), recheckMs)

  const checkAgain = async (viewer: Viewer) => {
    const now = await levels(viewer.who)
    if (now) viewer.levels = now
    else viewer.line.end()
  }

  return {
    viewers: () => viewers.size,
    close: () => {
      clearInterval(beat)
      clearInterval(recheck)
      stopFeed()
      viewers.forEach(({ line }) => line.end())
    },
    stream: async ({ who, query, after, signal }) => {
      const line = openLine(() => viewers.delete(viewer))
      const viewer: Viewer = { who, query, line, levels: (await levels(who)) ?? new Map() }
      signal.addEventListener('abort', () => line.end(), { once: true })
      line.send('retry: 1000\n\n')
      // Listening begins before what was missed is read: something told twice is better than not at all.
      viewers.add(viewer)
      if (after !== undefined) await tellMissed(viewer, after, feed)
      return new Response(line.stream, {
        headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
      })
    },
  }
}

async function tellMissed(viewer: Viewer, after: string, feed: Feed): Promise<void> {
  const missed = await feed.since(after)
  if (missed === 'too-much') return viewer.line.send(frame({ id: after, change: { type: 'start-over' } }))
  for (const one of missed) tell(viewer, one)
}

function tell(viewer: Viewer, told: Told): void {
  if (!wants(viewer.query, told)) return
  const level = told.agentId === undefined ? undefined : levelOf(viewer.who, viewer.levels.get(told.agentId))
  if (told.agentId !== undefined && level === undefined) return
  const { change } = told
  if (change.type === 'agent' && level !== undefined) {
    viewer.line.send(frame({ id: told.id, change: { ...change, row: { ...change.row, access: level } } }))
    return
  }
  // One text for all who watch.
  viewer.line.send(told.text())
}

function wants({ agentId, sprintId }: Filter, told: Told): boolean {
  if (agentId !== undefined && told.agentId !== agentId) return false
  if (sprintId !== undefined && told.sprintId !== undefined && told.sprintId !== sprintId) return false
  return told.change.type !== 'event' || agentId !== undefined || sprintId !== undefined
}

/** Who does not read what is sent gets nothing more: the browser comes back and says where it was. */
const mostWaiting = 1024 * 1024

interface Line {
  readonly stream: ReadableStream<Uint8Array>
  readonly send: (text: string) => void
  readonly end: () => void
}

function openLine(ended: () => void): Line {
  const encoder = new TextEncoder()
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const forget = () => {
    controller = undefined
    ended()
  }
  const stream = new ReadableStream<Uint8Array>(
    { start: (given) => void (controller = given), cancel: forget },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
  const end = () => {
    const open = controller
    forget()
    open?.close()
  }
  return {
    stream,
    end,
    send: (text) => {
      if (!controller) return
      if (-(controller.desiredSize ?? 0) > mostWaiting) return end()
      controller.enqueue(encoder.encode(text))
    },
  }
}
