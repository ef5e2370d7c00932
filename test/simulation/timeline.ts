/** Virtual time: only due events happen, and nothing takes longer than it must. */
export interface Timeline {
  readonly now: () => number
  readonly at: (when: number, happens: () => void) => void
  /** Runs the next event; false if none is left. */
  readonly step: () => boolean
}

type Due = { readonly when: number; readonly order: number; readonly happens: () => void }

export function createTimeline(start: number): Timeline {
  const due: Due[] = []
  let now = start
  let order = 0
  return {
    now: () => now,
    at(when, happens) {
      const entry = { when: Math.max(when, now), order: order++, happens }
      let index = due.length
      while (index > 0 && isAfter(due[index - 1], entry)) index--
      due.splice(index, 0, entry)
    },
    step() {
      const next = due.shift()
      if (!next) return false
      now = next.when
      next.happens()
      return true
    },
  }
}

const isAfter = (a: Due | undefined, b: Due): boolean =>
  a !== undefined && (a.when > b.when || (a.when === b.when && a.order > b.order))

/** Runs everything that is ready, until all of it waits for the timeline. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
