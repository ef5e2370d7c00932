import { z } from 'zod'
import { backoffMs } from '../contract/backoff.ts'
import { FleetChange } from '../contract/fleet/event.ts'
import { routes } from '../contract/fleet/routes.ts'

export type ChangeHandlers = {
  readonly onChange: (change: FleetChange) => void
  /** Whether changes arrive. `lost` is reported after every failed attempt. */
  readonly onState: (state: 'live' | 'lost') => void
}

/** Every row change is reported. Events inside a sprint are reported only for this one. */
export type ChangeScope = { readonly sprintId?: string | undefined }

export interface ChangeFollower {
  /** Switches to another scope without missing changes. */
  readonly setScope: (inside: ChangeScope) => void
  /** Ends the current pause and retries immediately. */
  readonly retryNow: () => void
  readonly end: () => void
}

export type FollowOptions = { readonly scope?: ChangeScope; readonly open?: (url: string) => ChangeSource }

/** The part of EventSource used here; tests and Node provide their own. */
export type ChangeSource = Pick<EventSource, 'addEventListener' | 'close'>

const changeTypes = FleetChange.options.map((option) => option.shape.type.value)
const reconnectBackoff = { firstMs: 1000, maxMs: 30_000 }
/**
 * The backend sends at least one frame every 15 s. A connection that is silent for longer is dead, and no error event
 * reports it.
 */
const silenceTimeoutMs = 40_000
/** It greets a new connection at once. Without the greeting, a proxy is holding the stream back. */
const greetingTimeoutMs = 15_000

/**
 * Follows all changes from now on, over one connection at a time. Data requested before the connection was open may be
 * stale, so the first change is `start-over`; after a reconnect it resumes from its position. The built-in reconnect of
 * EventSource is not used: it gives up when a proxy or a starting backend answers with an error, and all clients would
 * reconnect at the same moment.
 */
export function followChanges({ onChange, onState }: ChangeHandlers, options: FollowOptions = {}): ChangeFollower {
  const { open = openEventSource } = options
  let { scope: inside = {} } = options
  let source: ChangeSource | undefined
  let position: string | undefined
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const wait = (ms: number, act: () => void): void => {
    clearTimeout(timer)
    timer = setTimeout(act, ms)
  }
  const disconnect = (): void => {
    clearTimeout(timer)
    source?.close()
    source = undefined
  }
  const fail = (): void => {
    disconnect()
    failures += 1
    wait(backoffMs(reconnectBackoff, failures, Math.random()), connect)
    onState('lost')
  }
  const onMessage = (message: Event): void => {
    if (!(message instanceof MessageEvent)) return
    wait(silenceTimeoutMs, fail)
    const change = z.decode(FleetChange, JSON.parse(String(message.data)))
    const isFirst = position === undefined
    if (message.lastEventId !== '') position = message.lastEventId
    if (change.type !== 'here') return onChange(change)
    failures = 0
    if (isFirst) onChange({ type: 'start-over' })
    onState('live')
  }
  function connect(): void {
    disconnect()
    const mine = open(changesUrl(inside, position))
    source = mine
    wait(greetingTimeoutMs, fail)
    mine.addEventListener('error', () => mine === source && fail())
    for (const type of changeTypes) mine.addEventListener(type, (message) => mine === source && onMessage(message))
  }
  connect()
  return {
    setScope: (next) => {
      if (changesUrl(next, undefined) === changesUrl(inside, undefined)) return
      inside = next
      if (source) connect()
    },
    retryNow: () => {
      if (!source && failures > 0) connect()
    },
    end: () => {
      failures = 0
      disconnect()
    },
  }
}

function changesUrl(inside: ChangeScope, after: string | undefined): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...inside, after })) if (value !== undefined) query.set(name, value)
  return `${routes.events.path}${query.size > 0 ? `?${query.toString()}` : ''}`
}

const openEventSource = (url: string): ChangeSource => new EventSource(url, { withCredentials: true })
