import { open } from 'node:fs/promises'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { createAppender, openAppendFile, type AppendTarget } from './append-file.ts'

const errno = (code: string) => Object.assign(new Error(code), { code })

/** A disk of a few bytes that records every call. */
function createFakeDisk({ room = Number.POSITIVE_INFINITY, perWrite = Number.POSITIVE_INFINITY } = {}) {
  let bytes = Buffer.alloc(0)
  const disk = { room, syncs: 0, failSync: false, syncError: 'EIO', failTruncate: false, text: () => bytes.toString() }
  const target: AppendTarget = {
    async write(buffer: Buffer, offset: number, length: number, position: number) {
      await Promise.resolve()
      const taken = Math.min(length, perWrite, Math.max(0, disk.room - position))
      if (taken === 0) throw errno('ENOSPC')
      bytes = Buffer.concat([bytes.subarray(0, position), buffer.subarray(offset, offset + taken)])
      return { bytesWritten: taken }
    },
    async datasync() {
      await Promise.resolve()
      disk.syncs++
      if (disk.failSync) throw errno(disk.syncError)
    },
    async truncate(length = 0) {
      if (disk.failTruncate) throw errno('EIO')
      bytes = bytes.subarray(0, length)
    },
    close: async () => {},
  }
  return { disk, target }
}

describe('an append-only file', () => {
  it('D5: takes the next append after a sync that found the disk full', async () => {
    const { disk, target } = createFakeDisk()
    const file = createAppender(target, 0)
    await file.append('one\n')
    disk.failSync = true
    disk.syncError = 'ENOSPC'
    await expect(file.append('two\n')).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(disk.text()).toBe('one\n')
    disk.failSync = false
    await file.append('two\n')

    expect({ text: disk.text(), size: file.size() }).toEqual({ text: 'one\ntwo\n', size: 8 })
  })

  it('acknowledges an append after it is synced', async () => {
    const { disk, target } = createFakeDisk()
    const file = createAppender(target, 0)
    await file.append('one\n')

    expect({ text: disk.text(), syncs: disk.syncs, size: file.size() }).toEqual({ text: 'one\n', syncs: 1, size: 4 })
  })

  it('does not sync a file whose loss in a power cut costs nothing', async () => {
    const { disk, target } = createFakeDisk()
    await createAppender(target, 0, 'never').append('one\n')

    expect({ text: disk.text(), syncs: disk.syncs }).toEqual({ text: 'one\n', syncs: 0 })
  })

  it('lets concurrent appends share one sync, in order', async () => {
    const { disk, target } = createFakeDisk()
    const file = createAppender(target, 0)
    const lines = Array.from({ length: 1000 }, (_, n) => `${n}\n`)
    await Promise.all(lines.map((line) => file.append(line)))

    expect(disk.text()).toBe(lines.join(''))
    expect(disk.syncs).toBe(2)
  })

  it('continues after a partial write', async () => {
    const { disk, target } = createFakeDisk({ perWrite: 3 })
    const file = createAppender(target, 0)
    await Promise.all([file.append('hello '), file.append('world')])

    expect(disk.text()).toBe('hello world')
  })

  it('leaves nothing of an append that a full disk accepts only in part, and continues when there is room', async () => {
    const { disk, target } = createFakeDisk({ room: 10 })
    const file = createAppender(target, 0)
    await file.append('123456\n')

    await expect(file.append('too long for it\n')).rejects.toMatchObject({ code: 'ENOSPC' })
    expect({ text: disk.text(), size: file.size() }).toEqual({ text: '123456\n', size: 7 })

    await file.append('ok')
    disk.room = 100
    await file.append(' and on\n')
    expect(disk.text()).toBe('123456\nok and on\n')
  })

  it('treats a write of zero bytes as a full disk', async () => {
    const { target } = createFakeDisk()
    const file = createAppender({ ...target, write: async () => ({ bytesWritten: 0 }) }, 0)

    await expect(file.append('x')).rejects.toMatchObject({ code: 'ENOSPC' })
  })

  it('rejects every append after a failed sync', async () => {
    const { disk, target } = createFakeDisk()
    const file = createAppender(target, 0)
    await file.append('good\n')
    disk.failSync = true
    await expect(file.append('lost\n')).rejects.toMatchObject({ code: 'EIO' })
    disk.failSync = false

    await expect(file.append('more\n')).rejects.toMatchObject({ code: 'EIO' })
    expect(disk.text()).toBe('good\n')
  })

  it('rejects every append if the rest of a failed one could not be cut off', async () => {
    const { disk, target } = createFakeDisk({ room: 6 })
    const file = createAppender(target, 0)
    disk.failTruncate = true
    await expect(file.append('12345678')).rejects.toMatchObject({ code: 'ENOSPC' })
    disk.room = 100

    await expect(file.append('a')).rejects.toMatchObject({ code: 'ENOSPC' })
  })
})

describe('a file on the disk', () => {
  it('is truncated to the size that is known to be good', async () => {
    const path = join(createTestFolder(), 'log')
    writeFileSync(path, 'good\nto')
    const file = await openAppendFile(path, 5)
    await file.append('next\n')
    await file.close()

    expect(readFileSync(path, 'utf8')).toBe('good\nnext\n')
  })

  it('detects that it was deleted or replaced', async () => {
    const path = join(createTestFolder(), 'log')
    writeFileSync(path, '')
    const file = await openAppendFile(path, 0)
    expect(file.isInPlace()).toBe(true)

    writeFileSync(`${path}.new`, '')
    renameSync(`${path}.new`, path)
    expect(file.isInPlace()).toBe(false)

    rmSync(path)
    expect(file.isInPlace()).toBe(false)
    await file.close()
  })

  it('waits for the last append before it is closed', async () => {
    const path = join(createTestFolder(), 'log')
    await (await open(path, 'w')).close()
    const file = await openAppendFile(path, 0)
    const appended = file.append('last\n')
    await file.close()

    await appended
    expect(readFileSync(path, 'utf8')).toBe('last\n')
  })
})
