import { execFileSync } from 'node:child_process'
import { statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import {
  createFolder,
  existsItself,
  fileSize,
  isFile,
  isFolder,
  isLink,
  lstatSize,
  modifiedAt,
  readTextIfExists,
} from './files.ts'

describe('createFolder', () => {
  it('creates all missing folders, and accepts an existing one', async () => {
    const path = join(createTestFolder(), 'a', 'b', 'c')
    await Promise.all([createFolder(path), createFolder(path)])
    await createFolder(path)
    expect(statSync(path).isDirectory()).toBe(true)
  })

  it('names the path if it fails', async () => {
    const file = join(createTestFolder(), 'file')
    writeFileSync(file, '')
    await expect(createFolder(join(file, 'a'))).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
    await expect(createFolder(file)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
  })

  it.runIf(process.platform === 'linux')('gives up where Node would try for ever', async () => {
    await expect(createFolder('/proc/ralph/a')).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
  })
})

it('takes a path through a file, or through links that lead to each other, for missing', () => {
  const folder = createTestFolder()
  writeFileSync(join(folder, 'file'), '')
  symlinkSync('loop', join(folder, 'loop'))
  for (const path of [join(folder, 'file', '.git'), join(folder, 'loop', '.git')]) {
    expect([isFile, isFolder, isLink, existsItself].map((test) => test(path))).toEqual([false, false, false, false])
    expect([fileSize(path), lstatSize(path), modifiedAt(path)]).toEqual([0, 0, undefined])
  }
})

describe('readTextIfExists', () => {
  it('refuses a pipe, also in a folder below /dev, and reads a link to /dev/null as empty', async () => {
    const folder = createTestFolder()
    const [pipe, link] = [join(folder, 'pipe'), join(folder, 'link')]
    execFileSync('mkfifo', [pipe])
    symlinkSync('/dev/null', link)
    await expect(readTextIfExists(pipe)).rejects.toThrow('is a pipe or a device')
    expect(await readTextIfExists(link)).toBe('')
  })
})
