import { expect, it } from 'vitest'
import { findTestHelpers } from './test-helpers.ts'

const find = (files: Readonly<Record<string, string>>) =>
  findTestHelpers({
    paths: Object.keys(files),
    isTest: (path) => /(?:^|\/)tests?\//.test(path),
    read: (paths) => Promise.resolve(paths.map((path) => files[path] ?? '')),
    search: (words) =>
      Promise.resolve(Object.keys(files).filter((path) => words.some((word) => files[path]?.includes(word)))),
  })

it.each<[string, Readonly<Record<string, string>>, string[]]>([
  [
    'a helper by its folder',
    { 'test/a.js': "import { same } from '../support/same.js'", 'support/same.js': 'export const same = () => {}' },
    ['support/same.js'],
  ],
  [
    'a helper that imports a library for tests, wherever it stands, and what it imports itself',
    {
      'test/a.ts': "import { render } from '../src/render.js'",
      'src/render.ts': "import { expect } from 'vitest'\nimport { more } from './test-kit'",
      'src/test-kit.ts': 'export const more = 1',
    },
    ['src/render.ts', 'src/test-kit.ts'],
  ],
  [
    'a helper of Python',
    { 'tests/test_a.py': 'from calc.checks import same', 'calc/checks.py': 'import pytest\n', 'calc/__init__.py': '' },
    ['calc/checks.py'],
  ],
  ['no source that only its test imports', { 'test/a.js': "require('../src/sum')", 'src/sum.js': '' }, []],
  [
    'no helper that the sources use too',
    {
      'test/a.js': "import '../src/utils.js'",
      'src/utils.js': "import assert from 'node:assert'",
      'src/b.js': "import './utils.js'",
    },
    [],
  ],
  [
    'no entry of a package',
    {
      'package.json': '{"main":"./lib/expect.js"}',
      'test/a.js': "import '../lib/expect.js'",
      'lib/expect.js': "import 'chai'",
    },
    [],
  ],
])('finds %s', async (_, files, helpers) => {
  expect(await find(files)).toEqual(helpers)
})
