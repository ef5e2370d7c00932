import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support/paths.ts'
import { findBubblewrap } from './bubblewrap.ts'

const found = findBubblewrap()
const folder = 'folder' in found ? found.folder : ''

/** Every seventeenth way out of the corpus; the whole of it is a command of its own. */
function trySample(cell: string) {
  const script = join(root, 'conformance/escapes/run.mjs')
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` }
  return spawnSync(process.execPath, [script, '--cell', cell, '--sample'], { encoding: 'utf8', env })
}

const works = {
  bubblewrap: folder !== '',
  namespaces: spawnSync('unshare', ['-Urmpf', '--mount-proc', 'true']).status === 0,
}

it.each(['bubblewrap', 'namespaces'] as const)('nothing gets out of a cell of %s', { timeout: 600_000 }, (cell) => {
  const { status, stdout, stderr } = trySample(cell)
  const [code, words] = works[cell] ? [0, / 0 of [23]\d got out/] : [1, /escapes: .*(?:not installed|not work)/]
  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: code, said: expect.stringMatching(words) })
})

it('much is in reach without a cell, so the corpus would see a hole', { timeout: 600_000 }, () => {
  const { status, stdout } = trySample('none')
  expect(status).toBe(1)
  expect(stdout).toMatch(/✗ read\/ssh-key/)
})
