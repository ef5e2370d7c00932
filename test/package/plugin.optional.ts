import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installed } from '../agents/real-sprint.ts'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'

it('passes the validation of Claude Code itself, which detects a mistake', async () => {
  const claude = join(await installed('claude'), 'claude')
  const broken = join(createTestFolder(), 'plugin')
  cpSync(join(root, 'plugin'), broken, { recursive: true })
  const manifest = join(broken, '.claude-plugin', 'plugin.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"ralph-mode"', '"Ralph Mode"'))

  expect(await runValidation(claude, 'plugin', 'validate', join(root, 'plugin'), '--strict')).toBe(0)
  expect(await runValidation(claude, 'plugin', 'validate', broken, '--strict')).toBe(1)
})

/** With a home of its own, independent of the user who runs the tests. */
const runValidation = (file: string, ...args: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: createTestFolder() }
    const child = execFile(file, args, { env }, () => resolve(child.exitCode ?? -1))
  })
