import { useEffect, useSyncExternalStore } from 'react'
import { followChanges, type Following, type Inside } from '../../client/changes.ts'
import type { Change } from '../../contract/fleet/event.ts'
import { queryClient } from './api.ts'
import { applyChanges } from './apply-change.ts'
import { askAgain } from './ask-again.ts'
import { keys } from './queries.ts'

export type LiveState = {
  readonly state: 'connecting' | 'live' | 'lost'
  /** When the page last knew that it was up to date; nothing if it never was. */
  readonly at?: number | undefined
}

/** Changes are put into the cache at most this often: a page that shows a hundred changes a second shows nothing. */
const everyMs = 120
/** A connection that comes back within this time was never worth a word. */
const graceMs = 2000

let current: LiveState = { state: 'connecting' }
let following: Following | undefined
let inside: Inside = {}
const watchers = new Set<() => void>()
const onChanges = new Set<(changes: readonly Change[]) => void>()

/** The one subscription of the page. Components only see the cache that it feeds. */
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
    // Changes tell of what has changed, not of what could not be answered meanwhile. And it may be a new version by now.
    askAgain(queryClient, ({ queryKey, state }) => isOf(queryKey, keys.me) || state.error !== null)
  }
  const lost = (): void => {
    losing ??= window.setTimeout(() => say({ state: 'lost', at: current.at }), graceMs)
    // The connection does not say why it was refused. This answer does: who is not let in any more has to sign in.
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

/** Somebody looks, or the network is back: no reason to wait any longer. */
const hurry = (): void => {
  if (!document.hidden) following?.hurry()
}

/**
 * What happens inside a sprint is sent only to those who look at it, so what is known of it is asked for again. Before there
 * is a connection that is not needed: it begins by asking for everything again.
 */
function lookInside(next: Inside): void {
  inside = next
  if (!following) return
  following.lookInside(next)
  const { sprintId } = next
  if (sprintId !== undefined) askAgain(queryClient, ({ queryKey }) => isOf(queryKey, keys.events(sprintId)))
}

const isOf = (key: readonly unknown[], of: readonly string[]): boolean => of.every((part, at) => key[at] === part)

/** Keeps the page up to date as long as it is shown, with what happens inside the sprint that it shows. */
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
