import { useSyncExternalStore } from 'react'
import { subscribe } from '../../client/changes.ts'
import type { Change } from '../../contract/fleet/event.ts'
import { queryClient } from './api.ts'
import { applyChanges } from './apply-change.ts'
import { keys } from './queries.ts'

export type LiveState = {
  readonly state: 'connecting' | 'live' | 'lost'
  /** When the page last knew that it was up to date. */
  readonly at: number
}

/** Changes are put into the cache at most this often: a page that shows a hundred changes a second shows nothing. */
const everyMs = 120
/** A connection that comes back within this time was never worth a word. */
const graceMs = 2000

let current: LiveState = { state: 'connecting', at: Date.now() }
const watchers = new Set<() => void>()
const onChanges = new Set<(changes: readonly Change[]) => void>()

/**
 * The one subscription of the page: every row that changes. Components only see the cache that it feeds. What changed between
 * the first answers and the connection is asked for once more.
 */
export function startLive(): () => void {
  let losing: number | undefined
  const end = listen('/api/events', {
    onLost: () => (losing ??= window.setTimeout(() => say({ state: 'lost', at: current.at }), graceMs)),
    onLive: () => {
      window.clearTimeout(losing)
      losing = undefined
      say({ state: 'live', at: Date.now() })
      void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'events' })
    },
  })
  return () => {
    window.clearTimeout(losing)
    end()
  }
}

/** What happens inside a sprint is sent only to those who look at it. */
export function watchSprint(sprintId: string): () => void {
  let opened = false
  return listen(`/api/events?sprintId=${encodeURIComponent(sprintId)}`, {
    // Rows come over the other connection already.
    wants: ({ type }) => type === 'event' || type === 'start-over',
    onLost: () => undefined,
    onLive: () => {
      if (!opened) void queryClient.invalidateQueries({ queryKey: keys.events(sprintId) })
      opened = true
    },
  })
}

type Listener = {
  readonly wants?: (change: Change) => boolean
  readonly onLive: () => void
  readonly onLost: () => void
}

function listen(url: string, { wants = () => true, onLive, onLost }: Listener): () => void {
  let waiting: Change[] = []
  let flushing: number | undefined
  const flush = (): void => {
    flushing = undefined
    const changes = waiting
    waiting = []
    applyChanges(queryClient, changes)
    for (const tell of onChanges) tell(changes)
  }
  const end = subscribe(url, {
    onChange: (change) => {
      if (!wants(change)) return
      waiting.push(change)
      flushing ??= window.setTimeout(flush, everyMs)
      if (current.state === 'live') current = { state: 'live', at: Date.now() }
    },
    onState: (state) => (state === 'live' ? onLive() : onLost()),
  })
  return () => {
    window.clearTimeout(flushing)
    end()
  }
}

export function watchChanges(tell: (changes: readonly Change[]) => void): () => void {
  onChanges.add(tell)
  return () => onChanges.delete(tell)
}

export const useLive = (): LiveState =>
  useSyncExternalStore(
    (changed) => {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
    () => current,
  )

function say(next: LiveState): void {
  current = next
  for (const changed of watchers) changed()
}
