import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder } from '../../../test/support/folder.ts'
import { makeFolder } from './files.ts'

describe('makeFolder', () => {
  it('creates all missing folders, and accepts an existing one', async () => {
    const path = join(aFolder(), 'a', 'b', 'c')
    await Promise.all([makeFolder(path), makeFolder(path)])
    await makeFolder(path)
    expect(statSync(path).isDirectory()).toBe(true)
  })

  it('names the path if it fails', async () => {
    const file = join(aFolder(), 'file')
    writeFileSync(file, '')
    await expect(makeFolder(join(file, 'a'))).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
    await expect(makeFolder(file)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
  })

  it.runIf(process.platform === 'linux')('gives up where Node would try for ever', async () => {
    await expect(makeFolder('/proc/ralph/a')).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
  })
})
