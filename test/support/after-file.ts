type Cleanup = () => unknown

const cleanups: Cleanup[] = []

/** Cleans up after the test file what a hook or a test created: vitest silently ignores `afterAll` there. */
export const afterFile = (cleanup: Cleanup): void => void cleanups.push(cleanup)

/** The last one first. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
}
