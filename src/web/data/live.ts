import { useEffect, useSyncExternalStore } from 'react'
import { followChanges } from '../../client/changes.ts'
import type { FleetChange } from '../../contract/fleet/event.ts'
import { readBackendTime } from '../ui/now.ts'
import { api, queryClient } from './api.ts'
import { applyChanges } from './apply-change.ts'
import { refetchShown } from './refetch-shown.ts'
import { keys } from './queries.ts'
import { canShare, followShared, type SharedStream, type StreamHandlers } from './shared-stream.ts'

export type ConnectionState = {
  /** `polling`: the backend answers, but its stream does not arrive, as behind a proxy that buffers it. */
  readonly state: 'connecting' | 'live' | 'polling' | 'lost'
  /** When the page was last up to date; undefined if it never was. */
  readonly at?: number | undefined
}

/** Changes are written to the cache at most this often: no user can read a hundred updates a second. */
const applyIntervalMs = 120
/** A connection that returns within this time is not reported as lost. */
const graceMs = 2000
/** While the stream is lost, the page asks the backend this often for what it shows. */
export const pollIntervalMs = 10_000

/** The page's only subscription. Components read the cache it feeds. */
class LiveUpdates {
  connection: ConnectionState = { state: 'connecting' }
  readonly connectionListeners = new Set<() => void>()
  readonly changeListeners = new Set<(changes: readonly FleetChange[]) => void>()
  #stream: SharedStream | undefined
  #sprintId: string | undefined
  #waiting: FleetChange[] = []
  #flushTimer: number | undefined
  #lossTimer: number | undefined
  #pollTimer: number | undefined

  start(): () => void {
    this.#connect()
    window.addEventListener('pagehide', this.#disconnect)
    window.addEventListener('pageshow', this.#connect)
    window.addEventListener('online', this.#reconnectNow)
    document.addEventListener('visibilitychange', this.#reconnectNow)
    return () => {
      window.removeEventListener('pagehide', this.#disconnect)
      window.removeEventListener('pageshow', this.#connect)
      window.removeEventListener('online', this.#reconnectNow)
      document.removeEventListener('visibilitychange', this.#reconnectNow)
      window.clearTimeout(this.#lossTimer)
      window.clearTimeout(this.#flushTimer)
      this.#stopPolling()
      this.#lossTimer = undefined
      this.#flushTimer = undefined
      this.#waiting = []
      this.#disconnect()
      this.#setConnection({ state: 'connecting' })
    }
  }

  watchSprint(sprintId: string | undefined): void {
    this.#sprintId = sprintId
    this.#stream?.setSprint(sprintId)
  }

  readonly #connect = (): void => {
    const handlers: StreamHandlers = {
      onChange: this.#onChange,
      onState: (state) => (state === 'live' ? this.#onLive() : this.#onLost()),
      onScope: this.#refetchEvents,
    }
    this.#stream ??= canShare() ? followShared(handlers, this.#sprintId) : followAlone(handlers, this.#sprintId)
  }

  /** A page in the back/forward cache must not keep a connection: a browser has six for all of them. */
  readonly #disconnect = (): void => {
    this.#stream?.end()
    this.#stream = undefined
  }

  /** The page is visible or the network is back. */
  readonly #reconnectNow = (): void => {
    if (!document.hidden) this.#stream?.retryNow()
  }

  readonly #onChange = (change: FleetChange): void => {
    this.#waiting.push(change)
    this.#flushTimer ??= window.setTimeout(this.#flush, applyIntervalMs)
    if (this.connection.state === 'live') this.connection = { state: 'live', at: readBackendTime() }
  }

  readonly #flush = (): void => {
    this.#flushTimer = undefined
    const changes = this.#waiting
    this.#waiting = []
    applyChanges(queryClient, changes)
    for (const notify of this.changeListeners) notify(changes)
  }

  #onLive(): void {
    this.#stopPolling()
    this.#setConnection({ state: 'live', at: readBackendTime() })
    if (this.#lossTimer === undefined) return
    window.clearTimeout(this.#lossTimer)
    this.#lossTimer = undefined
    // Changes do not cover requests that failed during the outage, and the backend may have a new version by now.
    refetchShown(queryClient, ({ queryKey, state }) => isQueryFor(queryKey, keys.me) || state.error !== null)
  }

  #onLost(): void {
    this.#lossTimer ??= window.setTimeout(() => this.#setConnection({ state: 'lost', at: this.connection.at }), graceMs)
    this.#pollTimer ??= window.setInterval(() => void this.#poll(), pollIntervalMs)
    // A refused event stream does not say why; this request does. A user without access has to sign in.
    refetchShown(queryClient, ({ queryKey }) => isQueryFor(queryKey, keys.me))
  }

  /** The stream does not arrive. If the backend answers anyway, what the page shows is refetched. */
  async #poll(): Promise<void> {
    if (document.hidden || this.#lossTimer === undefined) return
    const answers = await api.me({}).then(
      () => true,
      () => false,
    )
    // The stream may have returned in between.
    if (this.#pollTimer === undefined) return
    if (!answers) return this.#setConnection({ state: 'lost', at: this.connection.at })
    refetchShown(queryClient, () => true)
    this.#setConnection({ state: 'polling', at: readBackendTime() })
  }

  #stopPolling(): void {
    window.clearInterval(this.#pollTimer)
    this.#pollTimer = undefined
  }

  /** The backend sends events inside a sprint only to pages that show it, so refetch what is known of it. */
  readonly #refetchEvents = (): void => {
    const sprintId = this.#sprintId
    // A new stream refetches everything as soon as it is applied.
    if (this.#waiting.some(({ type }) => type === 'start-over')) return
    if (sprintId !== undefined) refetchShown(queryClient, ({ queryKey }) => isQueryFor(queryKey, keys.events(sprintId)))
  }

  #setConnection(next: ConnectionState): void {
    this.connection = next
    for (const changed of this.connectionListeners) changed()
  }
}

const liveUpdates = new LiveUpdates()

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

const isQueryFor = (key: readonly unknown[], of: readonly string[]): boolean => of.every((part, at) => key[at] === part)

/** Keeps the page up to date while it is shown, including the events of the sprint it shows. */
export function useLiveUpdates(sprintId: string | undefined): void {
  useEffect(() => liveUpdates.watchSprint(sprintId), [sprintId])
  useEffect(() => liveUpdates.start(), [])
}

export function subscribeToChanges(listener: (changes: readonly FleetChange[]) => void): () => void {
  liveUpdates.changeListeners.add(listener)
  return () => liveUpdates.changeListeners.delete(listener)
}

export const useConnection = (): ConnectionState =>
  useSyncExternalStore(
    (changed) => {
      liveUpdates.connectionListeners.add(changed)
      return () => liveUpdates.connectionListeners.delete(changed)
    },
    () => liveUpdates.connection,
  )
