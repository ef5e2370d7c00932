import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { removeDurably, replaceIfUnchanged, writeFileAtomic } from './atomic-file.ts'
import { fileSignature } from './files.ts'

it('replaces a file and leaves nothing else behind', async () => {
  const folder = createTestFolder()
  await writeFileAtomic(join(folder, 'f'), 'one')
  await writeFileAtomic(join(folder, 'f'), 'two')

  expect(readFileSync(join(folder, 'f'), 'utf8')).toBe('two')
  expect(readdirSync(folder)).toEqual(['f'])
})

it('syncs the file and then its folder: without the folder a power cut could bring back the old one', async () => {
  const folder = createTestFolder()
  const some = await open(folder, 'r')
  const handles: FileHandle = Object.getPrototypeOf(some)
  const synced: string[] = []
  const spy = vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
    synced.push((await this.stat()).isDirectory() ? 'folder' : 'file')
  })
  onTestFinished(() => spy.mockRestore())

  await writeFileAtomic(join(folder, 'f'), 'one')

  expect(synced).toEqual(['file', 'folder'])
  await some.close()
})

it('leaves the old text and no draft when it cannot be replaced', async () => {
  const folder = createTestFolder()
  await expect(writeFileAtomic(join(folder, 'no', 'f'), 'x')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(writeFileAtomic(folder, 'x')).rejects.toMatchObject({ syscall: 'rename' })

  expect(readdirSync(folder)).toEqual([])
})

it('replaces a file that is untouched, and creates one that does not exist', async () => {
  const file = join(createTestFolder(), 'f')
  const first = await replaceIfUnchanged(file, 'one', undefined)
  expect(first).toEqual({ signature: fileSignature(file) })
  if (first === 'touched') throw new Error('no process has touched it')

  const second = await replaceIfUnchanged(file, 'two', first.signature)
  expect(second).toEqual({ signature: fileSignature(file) })
  expect(readFileSync(file, 'utf8')).toBe('two')
})

it('keeps what another process has written, in place or as a new file', async () => {
  const folder = createTestFolder()
  const file = join(folder, 'f')
  await writeFileAtomic(file, 'ours')
  const known = fileSignature(file)

  writeFileSync(file, 'theirs, in place')
  expect(await replaceIfUnchanged(file, 'ours again', known)).toBe('touched')
  expect(readFileSync(file, 'utf8')).toBe('theirs, in place')

  writeFileSync(`${file}.new`, 'ours')
  renameSync(`${file}.new`, file)
  expect(await replaceIfUnchanged(file, 'ours again', known)).toBe('touched')
  expect(await replaceIfUnchanged(file, 'ours again', undefined)).toBe('touched')
  expect(readFileSync(file, 'utf8')).toBe('ours')
  expect(readdirSync(folder)).toEqual(['f'])
})

it('loses no version of another process that replaces the file at the same time', async () => {
  const file = join(createTestFolder(), 'f')
  let known = (await made(file)).signature
  const other = startWriter(file)
  let seen = 0
  while (seen < 60) {
    const ours = await replaceIfUnchanged(file, `seen ${seen}`, known)
    if (ours !== 'touched') {
      known = ours.signature
      continue
    }
    known = fileSignature(file)
    // The writer writes the next version only after it knows that this process has seen the last one.
    expect(readFileSync(file, 'utf8')).toBe(`theirs ${seen + 1}`)
    seen++
  }
  other.kill('SIGKILL')
})

it('deletes a file durably, and accepts one that does not exist', async () => {
  const file = join(createTestFolder(), 'f')
  writeFileSync(file, '')
  await removeDurably(file)
  await removeDurably(file)

  expect(existsSync(file)).toBe(false)
})

async function made(file: string) {
  const first = await replaceIfUnchanged(file, 'seen 0', undefined)
  if (first === 'touched') throw new Error('there is no other process')
  return first
}

function startWriter(file: string) {
  const script = `
    const { readFileSync, renameSync, writeFileSync } = require('node:fs')
    const file = process.argv[1]
    for (let n = 0; ; n++) {
      while (readFileSync(file, 'utf8') !== 'seen ' + n);
      for (let spin = Math.random() * 1e6; spin > 0; spin--);
      writeFileSync(file + '.theirs', 'theirs ' + (n + 1))
      renameSync(file + '.theirs', file)
    }`
  const child = spawn(process.execPath, ['-e', script, file], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}
