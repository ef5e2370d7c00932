import { z } from 'zod'
import { Change } from '../contract/fleet/event.ts'
import { routes } from '../contract/fleet/routes.ts'

export type Subscription = {
  readonly onChange: (change: Change) => void
  /** Whether changes arrive. `lost` is said again after every attempt that fails. */
  readonly onState: (state: 'live' | 'lost') => void
}

/** All rows that change are told anyway; this is whose inside is told too. */
export type Inside = { readonly sprintId?: string | undefined }

export interface Following {
  /** Tells of another inside from now on. Nothing is missed in between. */
  readonly lookInside: (inside: Inside) => void
  /** Tries again at once if it is waiting to try again. */
  readonly hurry: () => void
  readonly end: () => void
}

export type How = { readonly inside?: Inside; readonly open?: (url: string) => Source }

/** What of an EventSource is used here; tests and Node bring their own. */
export type Source = Pick<EventSource, 'addEventListener' | 'close'>

const types = Change.options.map((option) => option.shape.type.value)
const [shortestPauseMs, longestPauseMs] = [1000, 30_000]
/** The backend says something every 15 s. A connection that is silent for longer is dead, and nobody else would tell. */
const patienceMs = 40_000

/**
 * Everything that changes, from now on, over one connection at a time. What was asked for before it stood may be older, so
 * it begins with `start-over`; afterwards it goes on from where it was. A browser's own way to connect again is not used: it
 * gives up for good when a proxy or a starting backend answers with an error, and all of them come back at the same moment.
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

/** Half of it is chance: many who were cut off together come back one by one. */
const pauseAfter = (failures: number): number =>
  Math.min(longestPauseMs, shortestPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)

function urlOf(inside: Inside, after: string | undefined): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...inside, after })) if (value !== undefined) query.set(name, value)
  return `${routes.events.path}${query.size > 0 ? `?${query.toString()}` : ''}`
}

const openSource = (url: string): Source => new EventSource(url, { withCredentials: true })
