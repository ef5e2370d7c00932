import { z } from 'zod'
import { Change } from '../contract/fleet/event.ts'
import { routes } from '../contract/fleet/routes.ts'

export type Subscription = {
  readonly onChange: (change: Change) => void
  /** Whether changes arrive. `lost` is reported after every failed attempt. */
  readonly onState: (state: 'live' | 'lost') => void
}

/** Every row change is reported. Events inside a sprint are reported only for this one. */
export type Inside = { readonly sprintId?: string | undefined }

export interface Following {
  /** Switches to another scope without missing changes. */
  readonly lookInside: (inside: Inside) => void
  /** Ends the current pause and retries immediately. */
  readonly hurry: () => void
  readonly end: () => void
}

export type How = { readonly inside?: Inside; readonly open?: (url: string) => Source }

/** The part of EventSource used here; tests and Node provide their own. */
export type Source = Pick<EventSource, 'addEventListener' | 'close'>

const types = Change.options.map((option) => option.shape.type.value)
const [shortestPauseMs, longestPauseMs] = [1000, 30_000]
/**
 * The backend sends at least one frame every 15 s. A connection that is silent for longer is dead, and no error event
 * reports it.
 */
const patienceMs = 40_000

/**
 * Follows all changes from now on, over one connection at a time. Data requested before the connection was open may be
 * stale, so the first change is `start-over`; after a reconnect it resumes from its position. The built-in reconnect of
 * EventSource is not used: it gives up when a proxy or a starting backend answers with an error, and all clients would
 * reconnect at the same moment.
 */
export function followChanges({ onChange, onState }: Subscription, how: How = {}): Following {
  const { open = openSource } = how
  let { inside = {} } = how
  let source: Source | undefined
  let knows: string | undefined
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const wait = (ms: number, act: () => void): void => {
    clearTimeout(timer)
    timer = setTimeout(act, ms)
  }
  const hangUp = (): void => {
    clearTimeout(timer)
    source?.close()
    source = undefined
  }
  const fail = (): void => {
    hangUp()
    failures += 1
    wait(pauseAfter(failures), connect)
    onState('lost')
  }
  const hear = (message: Event): void => {
    if (!(message instanceof MessageEvent)) return
    wait(patienceMs, fail)
    const change = z.decode(Change, JSON.parse(String(message.data)))
    const isFirst = knows === undefined
    if (message.lastEventId !== '') knows = message.lastEventId
    if (change.type !== 'here') return onChange(change)
    failures = 0
    if (isFirst) onChange({ type: 'start-over' })
    onState('live')
  }
  function connect(): void {
    hangUp()
    const mine = open(urlOf(inside, knows))
    source = mine
    wait(patienceMs, fail)
    mine.addEventListener('error', () => mine === source && fail())
    for (const type of types) mine.addEventListener(type, (message) => mine === source && hear(message))
  }
  connect()
  return {
    lookInside: (next) => {
      if (urlOf(next, undefined) === urlOf(inside, undefined)) return
      inside = next
      if (source) connect()
    },
    hurry: () => {
      if (!source && failures > 0) connect()
    },
    end: () => {
      failures = 0
      hangUp()
    },
  }
}

/** Half of the pause is random, so that clients that were disconnected together do not reconnect together. */
const pauseAfter = (failures: number): number =>
  Math.min(longestPauseMs, shortestPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)

function urlOf(inside: Inside, after: string | undefined): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...inside, after })) if (value !== undefined) query.set(name, value)
  return `${routes.events.path}${query.size > 0 ? `?${query.toString()}` : ''}`
}

const openSource = (url: string): Source => new EventSource(url, { withCredentials: true })
