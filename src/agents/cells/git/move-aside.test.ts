import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../../test/support/folder.ts'
import { moveAside, takeAway } from './move-aside.ts'

it('keeps what it takes out of effect, under a name that is free', async () => {
  const path = join(createTestFolder(), 'a')
  for (const n of [1, 2]) {
    writeFileSync(path, '')
    expect(await moveAside(path)).toBe(`moved ${path} to ${path}.moved-by-ralph-${n}`)
  }
  expect(existsSync(path)).toBe(false)
})

it('says that it removed what it cannot move, and why', async () => {
  const path = join(createTestFolder(), 'n'.repeat(250))
  mkdirSync(join(path, 'more'), { recursive: true })
  expect(await moveAside(path)).toMatch(/^removed \/.*n instead of moving it \(ENAMETOOLONG: /)
  expect(existsSync(path)).toBe(false)
})

it.each([moveAside, takeAway])('says so if what is there stays: %o', async (act) => {
  expect(await act('/proc/self/status')).toContain('could not remove /proc/self/status, so remove it yourself (')
})
