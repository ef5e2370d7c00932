/** Lets at most `count` of the given works run at the same time; the others wait their turn. */
export function slots(count: number): <T>(run: () => Promise<T>) => Promise<T> {
  let free = count
  const waiting: (() => void)[] = []
  return async (run) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
