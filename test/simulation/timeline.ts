/** Virtual time: nothing happens but what is due, and nothing takes longer than it must. */
export interface Timeline {
  readonly now: () => number
  readonly at: (when: number, happens: () => void) => void
  /** Lets the next thing happen; false if nothing is left. */
  readonly step: () => boolean
}

type Due = { readonly when: number; readonly order: number; readonly happens: () => void }

export function timelineFrom(start: number): Timeline {
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

/** Lets everything that is ready to go on do so, until all of it waits for the timeline. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
