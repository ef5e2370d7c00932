export const noop = (): void => {}

/** Serialises tasks: each one starts when the previous one has settled, even if that one failed. */
export function serialize(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work, work)
    last = next
    return next
  }
}

/** Runs one task at a time; calls during a run lead to one more run afterwards. */
export function coalesce(work: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let running = false
  let again = false
  const run = async () => {
    do {
      again = false
      await work().catch(onError)
    } while (again)
    running = false
  }
  return () => {
    again = true
    if (running) return
    running = true
    void run()
  }
}

/** Lets events that have arrived be handled, in the middle of much work. */
export const yieldToEvents = (): Promise<void> => new Promise((done) => void setImmediate(done))
