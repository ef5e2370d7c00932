/** Does something soon after it was asked for, never twice at once, and not more often than every so many milliseconds. */
export function paced(everyMs: number, act: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  let last = -Infinity
  const run = async () => {
    timer = undefined
    last = performance.now()
    running = running.then(act)
    await running
  }
  return {
    soon: (): void => {
      timer ??= setTimeout(() => void run(), Math.max(0, last + everyMs - performance.now()))
    },
    /** Does nothing any more; resolves when what is under way is done. */
    end: async (): Promise<void> => {
      clearTimeout(timer)
      await running
    },
  }
}
