import { serialize } from '../../platform/async.ts'

/** Debounces an action: it runs soon after a request, never concurrently, and at most once per interval. */
export function debounce(everyMs: number, act: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined
  const enqueue = serialize()
  let last = -Infinity
  const run = async () => {
    timer = undefined
    last = performance.now()
    await enqueue(act)
  }
  return {
    soon: (): void => {
      timer ??= setTimeout(() => void run(), Math.max(0, last + everyMs - performance.now()))
    },
    /** Stops the action; resolves when a running one is done. */
    end: async (): Promise<void> => {
      clearTimeout(timer)
      await enqueue(async () => {})
    },
  }
}
