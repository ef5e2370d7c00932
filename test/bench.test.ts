import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './support/paths.ts'

it('refuses an iteration that has become slow', () => {
  const plant = `--require ${JSON.stringify(join(root, 'test/fixtures/slow-lines.cjs'))}`

  const { stdout, status } = node('bench/guard.mjs', '--only overhead --iterations 15 --rounds 1'.split(' '), {
    NODE_OPTIONS: plant,
  })

  expect(stdout).toMatch(
    /^✗ iteration, CPU against a Node loop that only starts the agent: [\d.]+ ×, baseline [\d.]+$/m,
  )
  expect(status).toBe(1)
}, 400_000)

it('has a place in the page of figures for each command that writes it', () => {
  const page = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8')
  expect(page.match(/<!-- (?:begin|end) \w+ -->/g)).toEqual([
    '<!-- begin own -->',
    '<!-- end own -->',
    '<!-- begin sizing -->',
    '<!-- end sizing -->',
    '<!-- begin peers -->',
    '<!-- end peers -->',
  ])
})

it('refuses an unknown part of the bench', () => {
  expect(node('bench/all.mjs', ['--only', 'nonsense'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no such part: nonsense'),
  })
})

function node(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return spawnSync(process.execPath, [join(root, file), ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
}
