import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { root } from './support/paths.ts'

it('ships only packages with a permissive licence and without an install script', () => {
  expect(licences()).toMatchObject({ status: 0, stderr: '' })
})

it('refuses a package that is copyleft, of unknown licence or with an install script, at any depth', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-licences-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const packages = {
    '': { dependencies: { a: '1.0.0' } },
    'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { b: '1', c: '1', d: '1' } },
    'node_modules/b': { version: '1.0.0', license: '(MIT OR GPL-3.0)' },
    'node_modules/a/node_modules/c': { version: '1.0.0', license: 'GPL-3.0' },
    'node_modules/c': { version: '2.0.0', license: 'MIT' },
    'node_modules/d': { version: '1.0.0', hasInstallScript: true },
    'node_modules/not-ours': { version: '1.0.0', license: 'GPL-3.0' },
  }
  writeFileSync(join(folder, 'lock.json'), JSON.stringify({ packages }))

  const { status, stderr } = licences(join(folder, 'lock.json'))

  expect({ status, refused: stderr.trim().split('\n') }).toEqual({
    status: 1,
    refused: [
      'refused: c 1.0.0: its licence is GPL-3.0',
      'refused: d 1.0.0: its licence is unknown',
      'refused: d 1.0.0: it runs a script when it is installed',
    ],
  })
})

function licences(...args: readonly string[]) {
  return spawnSync(process.execPath, [join(root, 'scripts/licences.mjs'), ...args], { encoding: 'utf8' })
}
