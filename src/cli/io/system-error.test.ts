import { openSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeSystemError } from './system-error.ts'

const systemError = (code: string) => Object.assign(new Error(`${code}: no, open 'x'`), { code, syscall: 'open' })

it.each([
  ['EACCES', 'FILE_UNREADABLE'],
  ['EMFILE', 'FILE_UNREADABLE'],
  ['EROFS', 'FILE_UNWRITABLE'],
  ['ENOSPC', 'DISK_FULL'],
])('reports what this computer refuses by a code of its own: %s', (code, expected) => {
  expect(describeSystemError(systemError(code))).toMatchObject({ code: expected, message: `${code}: no, open 'x'` })
})

it('leaves a bug a bug: a missing file, a wrong descriptor, any other error', () => {
  for (const fail of [() => readFileSync('/nowhere'), () => readFileSync(99_999), () => openSync('', 'no-flag')]) {
    expect(describeSystemError(catchError(fail))).toBeUndefined()
  }
})

function catchError(fail: () => unknown): unknown {
  try {
    return fail()
  } catch (error) {
    return error
  }
}
