import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** An empty folder of the test's own; gone afterwards. */
export function aFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
