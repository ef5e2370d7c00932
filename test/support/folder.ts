import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates an empty folder for the test, and removes it afterwards. */
export function createTestFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
