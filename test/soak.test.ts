import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './support/paths.ts'

it('survives a short soak: four sprints, misbehaving agents, killed runs, and every rule holds', () => {
  const args = ['--hours', '0.005', '--sprints', '4', '--at-once', '3', '--json']
  const { stdout } = spawnSync(process.execPath, [join(root, 'scripts/soak.mjs'), ...args], {
    encoding: 'utf8',
  })

  const report = JSON.parse(stdout)
  expect(report.complaints).toEqual([])
  expect(report).toMatchObject({ sprints: 4 })
  expect(report.iterations).toBeGreaterThan(4)
}, 400_000)
