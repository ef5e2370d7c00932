import { expect, it } from 'vitest'
import type { TreeEntry } from '../room/own-git.ts'
import { findTwins } from './twins.ts'

/** Texts stand for their own ids. */
const entry = (text: string | undefined): TreeEntry | undefined =>
  text === undefined ? undefined : { mode: '100644', id: text }
const readBlobs = (ids: readonly string[]) => Promise.resolve(ids.map((id) => Buffer.from(id)))

type Texts = readonly [before: string | undefined, after: string | undefined]

function twins(start: readonly string[], files: Readonly<Record<string, Texts>>, frozen: readonly string[] = []) {
  const changes = Object.entries(files).map(([path, [before, after]]) => ({
    path,
    before: entry(before),
    after: entry(after),
  }))
  return findTwins({ readBlobs }, start, changes, (path) => frozen.includes(path))
}

it('finds a file that takes the place of a frozen one, which is put back', async () => {
  const python = { 'asserts.py': ['old', undefined], 'asserts/__init__.py': [undefined, ''] } as const
  const node = { 'checks/same.js': ['old', undefined], 'checks/same.mjs': [undefined, ''] } as const
  const split = { 'checks/same.js': ['old', '// /same.mjs'], 'checks/same.mjs': [undefined, ''] } as const
  expect(await twins(['asserts.py'], python, ['asserts.py'])).toEqual(['asserts/__init__.py'])
  expect(await twins(['checks/same.js'], node, ['checks/same.js'])).toEqual(['checks/same.mjs'])
  expect(await twins(['checks/same.js'], split, ['checks/same.js'])).toEqual(['checks/same.mjs'])
})

it('takes the move and the split of a file that is not frozen', async () => {
  expect(await twins(['sum.js'], { 'sum.js': ['old', undefined], 'sum.mjs': [undefined, ''] })).toEqual([])
  expect(await twins(['sum.js'], { 'sum.js': ['old', "from './sum.mjs'"], 'sum.mjs': [undefined, ''] })).toEqual([])
  expect(await twins(['sum.js'], { 'sum.mjs': [undefined, ''] })).toEqual(['sum.mjs'])
})

it('takes a program that starts the file beside it, unless that is frozen or only a comment names it', async () => {
  const program = (text: string) => ({ 'bin/tool': [undefined, text] }) as const
  const start = "#!/usr/bin/env node\nrequire('./tool.js')\n"
  expect(await twins(['bin/tool.js'], program(start))).toEqual([])
  expect(await twins(['bin/tool.js'], program("// require('./tool.js')\n"))).toEqual(['bin/tool'])
  expect(await twins(['bin/tool.js'], program(start), ['bin/tool.js'])).toEqual(['bin/tool'])
})
