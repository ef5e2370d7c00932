import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aFolder } from '../../test/support/folder.ts'
import { removeForGood, replaceUntouched, writeFileAtomic } from './atomic-file.ts'
import { fileSignature } from './files.ts'

it('replaces a file and leaves nothing else behind', async () => {
  const folder = aFolder()
  await writeFileAtomic(join(folder, 'f'), 'one')
  await writeFileAtomic(join(folder, 'f'), 'two')

  expect(readFileSync(join(folder, 'f'), 'utf8')).toBe('two')
  expect(readdirSync(folder)).toEqual(['f'])
})

it('leaves the old text and no draft when it cannot be replaced', async () => {
  const folder = aFolder()
  await expect(writeFileAtomic(join(folder, 'no', 'f'), 'x')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(writeFileAtomic(folder, 'x')).rejects.toMatchObject({ syscall: 'rename' })

  expect(readdirSync(folder)).toEqual([])
})

it('replaces a file that nobody has touched, and one that is not there', async () => {
  const file = join(aFolder(), 'f')
  const first = await replaceUntouched(file, 'one', undefined)
  expect(first).toEqual({ signature: fileSignature(file) })
  if (first === 'touched') throw new Error('nobody has touched it')

  const second = await replaceUntouched(file, 'two', first.signature)
  expect(second).toEqual({ signature: fileSignature(file) })
  expect(readFileSync(file, 'utf8')).toBe('two')
})

it('leaves what somebody else has written, in place or by a new file', async () => {
  const folder = aFolder()
  const file = join(folder, 'f')
  await writeFileAtomic(file, 'ours')
  const known = fileSignature(file)

  writeFileSync(file, 'theirs, in place')
  expect(await replaceUntouched(file, 'ours again', known)).toBe('touched')
  expect(readFileSync(file, 'utf8')).toBe('theirs, in place')

  writeFileSync(`${file}.new`, 'ours')
  renameSync(`${file}.new`, file)
  expect(await replaceUntouched(file, 'ours again', known)).toBe('touched')
  expect(await replaceUntouched(file, 'ours again', undefined)).toBe('touched')
  expect(readFileSync(file, 'utf8')).toBe('ours')
  expect(readdirSync(folder)).toEqual(['f'])
})

it('loses no version of somebody who replaces the file at the same time', async () => {
  const folder = aFolder()
  const file = join(folder, 'f')
  let known = (await made(file)).signature
  const seen = new Set<string>()
  let written = 0
  const write = () => {
    writeFileSync(`${file}.theirs`, `theirs ${++written}`)
    renameSync(`${file}.theirs`, file)
  }
  for (let round = 0; round < 100; round++) {
    const ours = replaceUntouched(file, `ours ${round}`, known)
    // At some moment of it, another one each time.
    for (let turns = 0; turns < round % 13; turns++) await new Promise((resolve) => setImmediate(resolve))
    write()
    const done = await ours
    seen.add(readFileSync(file, 'utf8'))
    known = fileSignature(file)
    if (done !== 'touched' && !seen.has(`theirs ${written}`)) throw new Error(`round ${round}: theirs is gone`)
  }
  expect(seen.size).toBe(100)
  expect([...seen].every((text) => text.startsWith('theirs'))).toBe(true)
})

it('deletes for good, and what is not there too', async () => {
  const file = join(aFolder(), 'f')
  writeFileSync(file, '')
  await removeForGood(file)
  await removeForGood(file)

  expect(existsSync(file)).toBe(false)
})

async function made(file: string) {
  const first = await replaceUntouched(file, 'ours', undefined)
  if (first === 'touched') throw new Error('there is nobody else')
  return first
}
