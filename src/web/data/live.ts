import { useEffect, useSyncExternalStore } from 'react'
import { followChanges, type Following, type Inside } from '../../client/changes.ts'
import type { Change } from '../../contract/fleet/event.ts'
import { queryClient } from './api.ts'
import { applyChanges } from './apply-change.ts'
import { askAgain } from './ask-again.ts'
import { keys } from './queries.ts'

export type LiveState = {
  readonly state: 'connecting' | 'live' | 'lost'
  /** When the page was last up to date; undefined if it never was. */
  readonly at?: number | undefined
}

/** Changes are written to the cache at most this often: no user can read a hundred updates a second. */
const everyMs = 120
/** A connection that returns within this time is not reported as lost. */
const graceMs = 2000

let current: LiveState = { state: 'connecting' }
let following: Following | undefined
let inside: Inside = {}
const watchers = new Set<() => void>()
const onChanges = new Set<(changes: readonly Change[]) => void>()

/** The page's only subscription. Components read the cache it feeds. */
function startLive(): () => void {
  let waiting: Change[] = []
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
    say({ state: 'live', at: Date.now() })
    if (losing === undefined) return
    window.clearTimeout(losing)
    losing = undefined
    // Changes do not cover requests that failed during the outage, and the backend may have a new version by now.
    askAgain(queryClient, ({ queryKey, state }) => isOf(queryKey, keys.me) || state.error !== null)
  }
  const lost = (): void => {
    losing ??= window.setTimeout(() => say({ state: 'lost', at: current.at }), graceMs)
    // A refused event stream does not say why; this request does. A user without access has to sign in.
    askAgain(queryClient, ({ queryKey }) => isOf(queryKey, keys.me))
  }
  const onChange = (change: Change): void => {
    waiting.push(change)
    flushing ??= window.setTimeout(flush, everyMs)
    if (current.state === 'live') current = { state: 'live', at: Date.now() }
  }
  following = followChanges({ onChange, onState: (state) => (state === 'live' ? live() : lost()) }, { inside })
  window.addEventListener('online', hurry)
  document.addEventListener('visibilitychange', hurry)
  return () => {
    window.removeEventListener('online', hurry)
    document.removeEventListener('visibilitychange', hurry)
    window.clearTimeout(losing)
    window.clearTimeout(flushing)
    following?.end()
    following = undefined
    say({ state: 'connecting' })
  }
}

/** The page is visible or the network is back, so reconnect immediately. */
const hurry = (): void => {
  if (!document.hidden) following?.hurry()
}

/**
 * The backend sends events inside a sprint only to pages that show it, so refetch what is known of it. Not needed
 * before the first connection, which starts with a full refetch.
 */
function lookInside(next: Inside): void {
  inside = next
  if (!following) return
  following.lookInside(next)
  const { sprintId } = next
  if (sprintId !== undefined) askAgain(queryClient, ({ queryKey }) => isOf(queryKey, keys.events(sprintId)))
}

const isOf = (key: readonly unknown[], of: readonly string[]): boolean => of.every((part, at) => key[at] === part)

/** Keeps the page up to date while it is shown, including the events of the sprint it shows. */
export function useLiveUpdates(sprintId: string | undefined): void {
  useEffect(() => lookInside({ sprintId }), [sprintId])
  useEffect(startLive, [])
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
