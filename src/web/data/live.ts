import { useEffect, useSyncExternalStore } from 'react'
import { followChanges } from '../../client/changes.ts'
import type { FleetChange } from '../../contract/fleet/event.ts'
import { queryClient } from './api.ts'
import { applyChanges } from './apply-change.ts'
import { refetchShown } from './refetch-shown.ts'
import { keys } from './queries.ts'
import { canShare, followShared, type SharedStream, type StreamHandlers } from './shared-stream.ts'

export type ConnectionState = {
  readonly state: 'connecting' | 'live' | 'lost'
  /** When the page was last up to date; undefined if it never was. */
  readonly at?: number | undefined
}

/** Changes are written to the cache at most this often: no user can read a hundred updates a second. */
const applyIntervalMs = 120
/** A connection that returns within this time is not reported as lost. */
const graceMs = 2000

let connection: ConnectionState = { state: 'connecting' }
let following: SharedStream | undefined
let watchedSprint: string | undefined
const connectionListeners = new Set<() => void>()
const onChanges = new Set<(changes: readonly FleetChange[]) => void>()

/** The page's only subscription. Components read the cache it feeds. */
function startLive(): () => void {
  let waiting: FleetChange[] = []
  let flushing: number | undefined
  let losing: number | undefined
  const flush = (): void => {
    flushing = undefined
    const changes = waiting
    waiting = []
    applyChanges(queryClient, changes)
    for (const tell of onChanges) tell(changes)
  }
  const live = (): void => {
    setConnection({ state: 'live', at: Date.now() })
    if (losing === undefined) return
    window.clearTimeout(losing)
    losing = undefined
    // Changes do not cover requests that failed during the outage, and the backend may have a new version by now.
    refetchShown(queryClient, ({ queryKey, state }) => isQueryFor(queryKey, keys.me) || state.error !== null)
  }
  const lost = (): void => {
    losing ??= window.setTimeout(() => setConnection({ state: 'lost', at: connection.at }), graceMs)
    // A refused event stream does not say why; this request does. A user without access has to sign in.
    refetchShown(queryClient, ({ queryKey }) => isQueryFor(queryKey, keys.me))
  }
  const onChange = (change: FleetChange): void => {
    waiting.push(change)
    flushing ??= window.setTimeout(flush, applyIntervalMs)
    if (connection.state === 'live') connection = { state: 'live', at: Date.now() }
  }
  const handlers = {
    onChange,
    onState: (state: 'live' | 'lost') => (state === 'live' ? live() : lost()),
    onScope: refetchEvents,
  }
  const connect = (): void => {
    following ??= canShare() ? followShared(handlers, watchedSprint) : followAlone(handlers, watchedSprint)
  }
  connect()
  window.addEventListener('pagehide', disconnect)
  window.addEventListener('pageshow', connect)
  window.addEventListener('online', reconnectNow)
  document.addEventListener('visibilitychange', reconnectNow)
  return () => {
    window.removeEventListener('pagehide', disconnect)
    window.removeEventListener('pageshow', connect)
    window.removeEventListener('online', reconnectNow)
    document.removeEventListener('visibilitychange', reconnectNow)
    window.clearTimeout(losing)
    window.clearTimeout(flushing)
    disconnect()
    setConnection({ state: 'connecting' })
  }
}

/** A page in the back/forward cache must not keep a connection: a browser has six for all of them. */
function disconnect(): void {
  following?.end()
  following = undefined
}

/** A stream of its own, where tabs cannot share one. */
function followAlone(handlers: StreamHandlers, sprintId: string | undefined): SharedStream {
  const follower = followChanges(handlers, { scope: { sprintId } })
  return {
    retryNow: follower.retryNow,
    end: follower.end,
    setSprint: (next) => {
      follower.setScope({ sprintId: next })
      if (next !== undefined) handlers.onScope()
    },
  }
}

/** The page is visible or the network is back, so reconnect immediately. */
const reconnectNow = (): void => {
  if (!document.hidden) following?.retryNow()
}

/** The backend sends events inside a sprint only to pages that show it, so refetch what is known of it. */
function refetchEvents(): void {
  const sprintId = watchedSprint
  if (sprintId !== undefined) refetchShown(queryClient, ({ queryKey }) => isQueryFor(queryKey, keys.events(sprintId)))
}

function watchSprintEvents(sprintId: string | undefined): void {
  watchedSprint = sprintId
  following?.setSprint(sprintId)
}

const isQueryFor = (key: readonly unknown[], of: readonly string[]): boolean => of.every((part, at) => key[at] === part)

/** Keeps the page up to date while it is shown, including the events of the sprint it shows. */
export function useLiveUpdates(sprintId: string | undefined): void {
  useEffect(() => watchSprintEvents(sprintId), [sprintId])
  useEffect(startLive, [])
}

export function subscribeToConnection(listener: (changes: readonly FleetChange[]) => void): () => void {
  onChanges.add(listener)
  return () => onChanges.delete(listener)
}

export const useConnection = (): ConnectionState =>
  useSyncExternalStore(
    (changed) => {
      connectionListeners.add(changed)
      return () => connectionListeners.delete(changed)
    },
    () => connection,
  )

function setConnection(next: ConnectionState): void {
  connection = next
  for (const changed of connectionListeners) changed()
}
