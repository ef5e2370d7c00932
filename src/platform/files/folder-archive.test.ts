import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { packFolder, unpackFolder } from './folder-archive.ts'

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'ralph-test-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

it('restores a packed folder: bytes, empty files and empty folders', async () => {
  const [from, to] = [await folder(), await folder()]
  await mkdir(join(from, 'empty/folder'), { recursive: true })
  await mkdir(join(from, 'full'))
  await writeFile(join(from, 'full/empty'), '')
  await writeFile(join(from, 'full/bytes'), Buffer.from([0, 10, 255, 10]))
  await writeFile(join(from, 'ünï'), 'text\n')
  await unpackFolder(await packFolder(from), to)
  expect((await readdir(to, { recursive: true })).toSorted()).toEqual(
    (await readdir(from, { recursive: true })).toSorted(),
  )
  expect([...(await readFile(join(to, 'full/bytes')))]).toEqual([0, 10, 255, 10])
  expect(await readFile(join(to, 'full/empty'), 'utf8')).toBe('')
  expect(await readFile(join(to, 'ünï'), 'utf8')).toBe('text\n')
})

it('rejects a truncated archive', async () => {
  const [from, to] = [await folder(), await folder()]
  await writeFile(join(from, 'text'), 'text')
  const archive = await packFolder(from)
  await expect(unpackFolder(archive.subarray(0, archive.length - 9), to)).rejects.toThrow('unexpected end of file')
})
