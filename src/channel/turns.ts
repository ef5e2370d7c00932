type Failed = (error: unknown) => void

/** Works in the order in which they come, each after the one before. */
export function inTurn(failed: Failed): (work: () => Promise<void>) => void {
  let last = Promise.resolve()
  return (work) => {
    last = last.then(work).catch(failed)
  }
}

/** Never twice at the same time; asked for meanwhile, it is done once more afterwards. */
export function onceAtATime(work: () => Promise<void>, failed: Failed): () => void {
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
