import { useSyncExternalStore } from 'react'

let now = Date.now()
const watchers = new Set<() => void>()
let ticking: number | undefined

function subscribeToClock(changed: () => void): () => void {
  watchers.add(changed)
  ticking ??= window.setInterval(() => {
    now = Date.now()
    for (const tell of watchers) tell()
  }, 1000)
  return () => {
    watchers.delete(changed)
    if (watchers.size > 0) return
    window.clearInterval(ticking)
    ticking = undefined
  }
}

/** The time, once a second, from one clock for the whole page. */
export const useNow = (): number => useSyncExternalStore(subscribeToClock, () => now)
