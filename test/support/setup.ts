import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { cleanUp } from './after-file.ts'

// No test writes to the home folder of the user who runs it. Real: tests compare paths.
const home = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-home-')))
process.env['RALPH_HOME'] = home

// For every file: vitest calls the first `afterAll` last.
afterAll(async () => {
  await cleanUp()
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}, 120_000)
