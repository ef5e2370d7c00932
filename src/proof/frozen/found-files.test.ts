import { expect, it } from 'vitest'
import type { TreeEntry } from '../room/own-git.ts'
import { listFoundFiles } from './found-files.ts'

/** Texts stand for their own ids. */
const entries = (files: Readonly<Record<string, string>>): Map<string, TreeEntry> =>
  new Map(Object.entries(files).map(([path, id]) => [path, { mode: '100644', id }]))
const readBlobs = (ids: readonly string[]) => Promise.resolve(ids.map((id) => Buffer.from(id)))

function find(start: Readonly<Record<string, string>>, added: Readonly<Record<string, string>>) {
  const [before, after] = [entries(start), entries({ ...start, ...added })]
  return listFoundFiles(
    { readBlobs },
    {
      before,
      after,
      changes: Object.keys(added).map((path) => ({ path, before: before.get(path), after: after.get(path) })),
      isFound: (path) => /-test\.js$|test\w*\.py$|__init__\.py$/.test(path),
      isFrozen: (path) => path.startsWith('tests/'),
    },
  )
}

it('finds a new file that no code loads', async () => {
  const start = { 'src/sum.js': 'export {}', 'tests/sum.js': "import '../src/sum.js'" }
  expect(await find(start, { 'src/a-test.js': 'rewrite()' })).toEqual(['src/a-test.js'])
  expect(await find(start, { 'src/a-test.js': '', 'src/other.js': "import './a-test.js'" })).toEqual(['src/a-test.js'])
})

it('leaves a file alone that code of the start loads, also through new files', async () => {
  const start = { 'src/sum.js': 'export {}', 'tests/speed.js': "import '../src/speed-test.js'" }
  expect(await find(start, { 'src/speed-test.js': '' })).toEqual([])
  const through = { 'src/sum.js': "import './more.js'", 'src/more.js': "import './b-test.js'", 'src/b-test.js': '' }
  expect(await find(start, through)).toEqual([])
  expect(await find({ 'package.json': '{"exports":"./b-test.js"}' }, { 'b-test.js': '' })).toEqual([])
})

it('finds packages and modules of Python that only discovery loads', async () => {
  const start = { 'calc/sums.py': '', 'calc/__init__.py': '', 'tests/test_sums.py': 'from calc.sums import total' }
  expect(await find(start, { 'testing.py': '', 'aaa/__init__.py': '' })).toEqual(['testing.py', 'aaa/__init__.py'])
  const used = {
    'calc/sums.py': 'from calc.stats.more import mean',
    'calc/stats/__init__.py': '',
    'calc/stats/more.py': '',
  }
  expect(await find(start, { ...used, 'calc/__init__.py': 'x = 1' })).toEqual([])
  expect(await find(start, { 'tool/__init__.py': '', 'tool/__main__.py': '' })).toEqual([])
})
