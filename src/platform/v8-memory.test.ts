import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { leanFlags } from './v8-memory.ts'

it('asks V8 for nothing that this one does not have, which it would complain of at every start', () => {
  const flags = leanFlags(Number.parseInt(process.versions.v8, 10))
  const code = `for (const flag of ${JSON.stringify(flags)}) require('node:v8').setFlagsFromString(flag)`

  expect(spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

it('asks a V8 that nobody has tried for nothing', () => {
  expect(leanFlags(15)).toEqual([])
})
