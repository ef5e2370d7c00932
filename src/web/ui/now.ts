import { useSyncExternalStore } from 'react'

/** A `Date` header has whole seconds and arrives late; a smaller difference says nothing about the clock. */
const clockToleranceMs = 5000

/** One clock for the whole page. It ticks while a component shows a time. */
class PageClock {
  #offsetMs = 0
  #now = Date.now()
  #timer: number | undefined
  readonly #watchers = new Set<() => void>()

  readonly now = (): number => this.#now

  readonly read = (): number => Date.now() + this.#offsetMs

  /** Ages are differences to times of the backend, so they need its clock: the computer of a user may be minutes off. */
  readonly adjust = (backendTime: number): void => {
    const offset = backendTime - Date.now()
    const next = Math.abs(offset) < clockToleranceMs ? 0 : offset
    if (Math.abs(next - this.#offsetMs) < clockToleranceMs) return
    this.#offsetMs = next
    this.#tick()
  }

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#watchers.add(changed)
    this.#timer ??= window.setInterval(this.#tick, 1000)
    return () => {
      this.#watchers.delete(changed)
      if (this.#watchers.size > 0) return
      window.clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  readonly #tick = (): void => {
    this.#now = this.read()
    for (const notify of this.#watchers) notify()
  }
}

const clock = new PageClock()

/** The time of the backend, once a second. */
export const useNow = (): number => useSyncExternalStore(clock.subscribe, clock.now)

/** The time of the backend now. */
export const readBackendTime = clock.read

export const adjustClock = clock.adjust
