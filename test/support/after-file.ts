type Cleanup = () => unknown

const cleanups: Cleanup[] = []

/** For what is made in a hook or a test and lasts as long as its file: there vitest takes no `afterAll`, and does not say so. */
export const afterFile = (cleanup: Cleanup): void => void cleanups.push(cleanup)

/** The last one first. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
}
