import { useSyncExternalStore } from 'react'

/** One clock for the whole page. It ticks while a component shows a time. */
class PageClock {
  #now = Date.now()
  #timer: number | undefined
  readonly #watchers = new Set<() => void>()

  readonly now = (): number => this.#now

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#watchers.add(changed)
    this.#timer ??= window.setInterval(() => {
      this.#now = Date.now()
      for (const notify of this.#watchers) notify()
    }, 1000)
    return () => {
      this.#watchers.delete(changed)
      if (this.#watchers.size > 0) return
      window.clearInterval(this.#timer)
      this.#timer = undefined
    }
  }
}

const clock = new PageClock()

/** The time, once a second. */
export const useNow = (): number => useSyncExternalStore(clock.subscribe, clock.now)
