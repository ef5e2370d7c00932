type OnFailure = (error: unknown) => void

/** Runs tasks one after the other, in the order of the calls. */
export function serializeTasks(failed: OnFailure): (work: () => Promise<void>) => void {
  let last = Promise.resolve()
  return (work) => {
    last = last.then(work).catch(failed)
  }
}

/** Runs one task at a time; calls during a run lead to one more run afterwards. */
export function coalesceRuns(work: () => Promise<void>, failed: OnFailure): () => void {
  let running = false
  let again = false
  const run = async () => {
    do {
      again = false
      await work().catch(failed)
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
