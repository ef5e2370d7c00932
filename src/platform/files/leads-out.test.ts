import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { writeFileAtomic } from './atomic-file.ts'
import { leadsOut, realPath } from './files.ts'

it('finds a link of the work tree that leads out of it, wherever the path begins', () => {
  const base = realPath(createTestFolder())
  const tree = join(base, 'tree')
  for (const name of ['tree/inner', 'secret', 'home']) mkdirSync(join(base, name), { recursive: true })
  symlinkSync('../secret', join(tree, 'out'))
  symlinkSync('inner', join(tree, 'in'))
  symlinkSync('../tree/out', join(base, 'home', 'through'))
  symlinkSync('../secret', join(base, 'home', 'own'))
  const found = ['tree/out', 'tree/in', 'tree/inner', 'home/through', 'home/own', 'secret', 'tree/missing'].filter(
    (name) => leadsOut(join(base, name), tree),
  )
  expect(found).toEqual(['tree/out', 'home/through'])
})

it('never writes a draft through a link with its name', async () => {
  const base = createTestFolder()
  const file = join(base, 'PROGRESS.yaml')
  writeFileSync(join(base, 'secret'), 'kept')
  for (let n = 1; n < 3000; n++) symlinkSync(join(base, 'secret'), `${file}.${process.pid}.${n}.tmp`)
  await writeFileAtomic(file, 'new')
  expect([readFileSync(file, 'utf8'), readFileSync(join(base, 'secret'), 'utf8')]).toEqual(['new', 'kept'])
})
