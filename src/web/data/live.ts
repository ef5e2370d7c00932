import { useEffect, useSyncExternalStore } from 'react'
import { followChanges, type ChangeFollower, type ChangeScope } from '../../client/changes.ts'
import type { FleetChange } from '../../contract/fleet/event.ts'
import { queryClient } from './api.ts'
import { applyChanges } from './apply-change.ts'
import { refetchShown } from './refetch-shown.ts'
import { keys } from './queries.ts'

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
let following: ChangeFollower | undefined
let watchedSprint: ChangeScope = {}
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
  following = followChanges(
    { onChange, onState: (state) => (state === 'live' ? live() : lost()) },
    { scope: watchedSprint },
  )
  window.addEventListener('online', reconnectNow)
  document.addEventListener('visibilitychange', reconnectNow)
  return () => {
    window.removeEventListener('online', reconnectNow)
    document.removeEventListener('visibilitychange', reconnectNow)
    window.clearTimeout(losing)
    window.clearTimeout(flushing)
    following?.end()
    following = undefined
    setConnection({ state: 'connecting' })
  }
}

/** The page is visible or the network is back, so reconnect immediately. */
const reconnectNow = (): void => {
  if (!document.hidden) following?.retryNow()
}

/**
 * The backend sends events inside a sprint only to pages that show it, so refetch what is known of it. Not needed
 * before the first connection, which starts with a full refetch.
 */
function watchSprintEvents(next: ChangeScope): void {
  watchedSprint = next
  if (!following) return
  following.setScope(next)
  const { sprintId } = next
  if (sprintId !== undefined) refetchShown(queryClient, ({ queryKey }) => isQueryFor(queryKey, keys.events(sprintId)))
}

const isQueryFor = (key: readonly unknown[], of: readonly string[]): boolean => of.every((part, at) => key[at] === part)

/** Keeps the page up to date while it is shown, including the events of the sprint it shows. */
export function useLiveUpdates(sprintId: string | undefined): void {
  useEffect(() => watchSprintEvents({ sprintId }), [sprintId])
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
