import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { memoryFlags } from './v8-memory.ts'

it('uses no flag that this V8 does not know, since V8 would warn at every start', () => {
  const flags = memoryFlags(Number.parseInt(process.versions.v8, 10))
  const code = `for (const flag of ${JSON.stringify(flags)}) require('node:v8').setFlagsFromString(flag)`

  expect(spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

it('uses no flags with an untested V8', () => {
  expect(memoryFlags(15)).toEqual([])
})
