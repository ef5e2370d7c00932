import { describe, expect, it } from 'vitest'
import { createClassifier, joinShapes, readShape, type FrozenRules } from './classify.ts'
import { frozenTable, parseFrozenTable } from './frozen-table.ts'

const none: FrozenRules = { frozen: [], mayChange: [] }
const kind = (path: string, paths: readonly string[] = [path], rules = none) =>
  createClassifier(frozenTable(), readShape(frozenTable(), paths), rules).classify(path)

describe('a path', () => {
  it.each([
    ['src/add.test.ts', 'test'],
    ['test/helper.js', 'test'],
    ['src/__tests__/x.js', 'test'],
    ['src/add.ts', 'source'],
    ['GNUmakefile', 'setting'],
    ['sub/Makefile', 'setting'],
    ['.npmrc', 'setting'],
    ['vitest.config.mts', 'setting'],
    ['__mocks__/fs.js', 'setting'],
    ['package.json', 'keys'],
    ['packages/a/package.json', 'keys'],
    ['package-lock.json', 'lock'],
    ['src/fixtures/a.json', 'support'],
    ['.env.test', 'setting'],
    ['src/setupTests.ts', 'setting'],
    ['.pnp.cjs', 'setting'],
    ['biome.json', 'setting'],
    ['.prettierrc.json', 'setting'],
    ['mise.toml', 'setting'],
  ])('%s of a Node project is %s', (path, expected) => {
    expect(kind(path, ['package.json', path])).toBe(expected)
  })

  it.each([
    ['tests/conftest.py', 'setting'],
    ['tests/test_a.py', 'test'],
    ['sitecustomize.py', 'setting'],
    ['app/__pycache__/a.cpython-311.pyc', 'drop'],
    ['pytest/__init__.py', 'shadow'],
    ['src/random.py', 'shadow'],
    ['packaging/version.py', 'shadow'],
    ['_json.cpython-311-x86_64-linux-gnu.so', 'shadow'],
    ['pytest.toml', 'setting'],
    ['.ruff.toml', 'setting'],
    ['mypy/main.py', 'source'],
    ['test.py', 'source'],
    ['app/random.py', 'source'],
    ['requirements-dev.txt', 'lock'],
  ])('%s of a Python project is %s', (path, expected) => {
    expect(kind(path, ['setup.py', path])).toBe(expected)
  })

  it('counts as a test only where its ecosystem is', () => {
    expect([kind('examples/a.rs', ['Cargo.toml']), kind('examples/a.txt', ['package.json'])]).toEqual([
      'test',
      'source',
    ])
  })

  it('is read from the package it is in', () => {
    const paths = ['package.json', 'packages/a/package.json']
    expect([kind('packages/a/test/x.js', paths), kind('packages/b/test/x.js', paths)]).toEqual(['test', 'source'])
  })
})

it('adds what the user freezes and releases what may change, but never what is dropped', () => {
  const rules = { frozen: ['contracts/**'], mayChange: ['test/new/**', 'node_modules', '.npmrc'] }
  const paths = ['package.json']
  expect([
    kind('contracts/a.json', paths, rules),
    kind('test/new/a.js', paths, rules),
    kind('node_modules/a.js', paths, rules),
    kind('.npmrc', paths, rules),
  ]).toEqual(['test', 'source', 'drop', 'source'])
})

it('knows files of unit tests beside the source of Rust', () => {
  const { classify } = createClassifier(frozenTable(), readShape(frozenTable(), ['Cargo.toml', 'src/lib.rs']), none)
  expect(['src/tests.rs', 'src/sum/tests/mod.rs', 'src/sum_test.rs', 'src/lib.rs'].map(classify)).toEqual([
    'test',
    'test',
    'test',
    'source',
  ])
})

it('freezes more where a claim adds an ecosystem or a package, never less', () => {
  const shape = joinShapes(
    readShape(frozenTable(), ['package.json']),
    readShape(frozenTable(), ['a/Cargo.toml', 'x.py']),
  )
  const { classify } = createClassifier(frozenTable(), shape, none)
  expect(['test/a.js', 'a/tests/b.rs', 'conftest.py'].map((path) => classify(path))).toEqual([
    'test',
    'test',
    'setting',
  ])
})

it('refuses a table with a kind that it does not know', () => {
  expect(() => parseFrozenTable('x: {marks: [a], tset: [b]}')).toThrow(/tset/)
})
