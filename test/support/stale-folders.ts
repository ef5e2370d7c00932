import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Folders that the tests create and remove, unless they are killed. A soak runs for hours, and templates are used again. */
const ownPattern = /^(?:ralph-(?:test|home|e2e|page|trust|postgres|data)-(?!template-)|conformance-)/
const maxAgeMs = 3 * 3_600_000

/** Removes what killed test runs have left. Another run may be in progress, so only what is old. */
export function removeStaleFolders(parent: string, now: number): void {
  for (const name of readdirSync(parent).filter((one) => ownPattern.test(one))) {
    const path = join(parent, name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat && now - stat.mtimeMs > maxAgeMs && stat.uid === process.getuid?.()) {
      rmSync(path, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}
