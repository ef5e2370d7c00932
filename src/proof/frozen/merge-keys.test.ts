import { describe, expect, it } from 'vitest'
import { frozenTable } from './frozen-table.ts'
import { freezeKeys, freezeNew, restoreEntries, takeDependencies } from './merge-keys.ts'

const rule = (name: string) => {
  const found = Object.values(frozenTable()).flatMap(({ keys }) => keys[name] ?? [])[0]
  if (!found) throw new Error(`no rule for ${name}`)
  return found
}
const frozen = (before: object | undefined, after: object) => {
  const texts = { before: before && JSON.stringify(before), after: JSON.stringify(after) }
  const text = freezeKeys('package.json', texts, rule('package.json'))
  return text === undefined ? 'as it is' : JSON.parse(text)
}

describe('package.json', () => {
  it('keeps old scripts, lets new ones in, and none that npm runs around an old one or at an install', () => {
    const before = { scripts: { test: 'vitest run', lint: 'eslint .' } }
    const after = {
      name: 'x',
      scripts: {
        test: 'exit 0',
        pretest: 'cheat',
        postlint: 'cheat',
        prepare: 'cheat',
        docs: 'typedoc',
        predocs: 'ls',
      },
    }
    expect(frozen(before, after)).toEqual({
      name: 'x',
      scripts: { docs: 'typedoc', predocs: 'ls', test: 'vitest run', lint: 'eslint .' },
    })
  })

  it('takes dependencies and exports of the agent, and the settings of the baseline', () => {
    const before = { type: 'module', jest: { bail: true }, version: '1.0.0' }
    const after = { jest: { testMatch: [] }, mocha: {}, dependencies: { a: '1' }, version: '1.1.0', exports: './b.js' }
    expect(frozen(before, after)).toEqual({
      type: 'module',
      jest: { bail: true },
      dependencies: { a: '1' },
      version: '1.1.0',
      exports: './b.js',
    })
  })

  it('stays as the agent wrote it if nothing frozen differs', () => {
    expect(frozen({ scripts: { test: 'x' } }, { dependencies: { a: '1' }, scripts: { test: 'x' } })).toBe('as it is')
  })

  it('is the old one if the agent broke or deleted it', () => {
    const texts = (after: string | undefined) => ({ before: '{"a":1}', after })
    expect(
      [texts('{'), texts('[]'), texts(undefined)].map((each) => freezeKeys('package.json', each, rule('package.json'))),
    ).toEqual(['{"a":1}', '{"a":1}', '{"a":1}'])
  })

  it('that is new loses what runs at an install or around the tests', () => {
    expect(frozen(undefined, { scripts: { test: 'a', posttest: 'b', install: 'c' } })).toEqual({
      scripts: { test: 'a' },
    })
  })

  it('leads tests of the start to the files of the start, unless these have moved', () => {
    const restore = (before: object, after: object, isGone = false) => {
      const texts = { before: JSON.stringify(before), after: JSON.stringify(after) }
      const text = restoreEntries('package.json', texts, rule('package.json'), () => isGone)
      return text === undefined ? 'as it is' : JSON.parse(text)
    }
    const old = { name: 'a', exports: './sum.js' }
    const now = { name: 'b', exports: { '.': './right.js', './half': './half.js' }, main: 'x.js', version: '2.0.0' }
    const paths = { '.': './sum.js', './half': './half.js' }
    expect(restore(old, now)).toEqual({ name: 'a', exports: paths, version: '2.0.0' })
    expect(restore(old, { ...old, exports: paths })).toBe('as it is')
    expect(restore({ main: 'a.js' }, { main: 'a.js', exports: './right.js' })).toEqual({ main: 'a.js' })
    expect(restore(old, now, true)).toBe('as it is')
  })

  it('is no way to the prototype', () => {
    const after = '{"__proto__": {"scripts": {"test": "exit 0"}}, "scripts": {"test": "x"}}'
    const text = freezeKeys('package.json', { before: '{"scripts":{"test":"y"}}', after }, rule('package.json'))
    expect(JSON.parse(text ?? '{}').scripts).toEqual({ test: 'y' })
  })

  it('of the old code takes the new dependencies and nothing else', () => {
    const texts = {
      before: JSON.stringify({ main: 'old.js', dependencies: { a: '1' } }),
      after: JSON.stringify({ main: 'new.js', devDependencies: { b: '2' } }),
    }
    expect(JSON.parse(takeDependencies('package.json', texts, rule('package.json')) ?? '{}')).toEqual({
      main: 'old.js',
      devDependencies: { b: '2' },
    })
  })
})

describe('pyproject.toml and Cargo.toml', () => {
  it.each([
    ['a table', '[tool.pytest.ini_options]\naddopts = "-k nothing"\n'],
    ['dotted keys', 'tool.pytest.ini_options.addopts = "-k nothing"\n'],
    ['an inline table', '[tool]\npytest = { ini_options = { addopts = "-k nothing" } }\n'],
    ['quoted keys', '["tool"."pytest".ini_options]\naddopts = "-k nothing"\n'],
  ])('freeze a setting in the form of %s', (_, text) => {
    const before = '[tool.pytest.ini_options]\naddopts = "-q"\n[project]\nversion = "1"\n'
    const merged = freezeKeys('pyproject.toml', { before, after: text }, rule('pyproject.toml'))
    expect(merged).toContain('addopts = "-q"')
    expect(merged).not.toContain('nothing')
  })

  it('let a version and dependencies in without touching the text', () => {
    const before = '[project]\nversion = "1"\n'
    const after = '# new\n[project]\nversion = "2"\ndependencies = ["a"]\n'
    expect(freezeKeys('pyproject.toml', { before, after }, rule('pyproject.toml'))).toBeUndefined()
  })

  it('freeze flags of targets by their names', () => {
    const before = '[package]\nname = "x"\n[[bin]]\nname = "a"\n'
    const after = '[package]\nname = "x"\n[lib]\ntest = false\n[[bin]]\nname = "a"\ntest = false\n[[bin]]\nname = "b"\n'
    const merged = freezeKeys('Cargo.toml', { before, after }, rule('Cargo.toml'))
    expect(merged).not.toContain('test = false')
    expect(merged).toContain('name = "b"')
  })
})

it('go.mod keeps what it replaced and takes what it requires', () => {
  const before = 'module m\n\ngo 1.22\n\nrequire a v1.0.0\n'
  const after = 'module m\n\ngo 1.22\n\nrequire (\n\ta v1.1.0\n\tb v1.0.0\n)\n\nreplace (\n\ttesting => ./evil\n)\n'
  expect(freezeKeys('go.mod', { before, after }, rule('go.mod'))).toBe(
    'module m\nrequire (\n\ta v1.1.0\n\tb v1.0.0\n)\ngo 1.22\n',
  )
  expect(takeDependencies('go.mod', { before, after }, rule('go.mod'))).toBe(
    'module m\ngo 1.22\nrequire (\n\ta v1.1.0\n\tb v1.0.0\n)\n',
  )
})

describe('a new manifest beside tests of the start', () => {
  it('keeps what the language needs if it is the first one', () => {
    const freeze = (path: string, after: string, isFirst: boolean) => freezeNew(path, after, rule(path), isFirst)
    const pack = '{"type":"module","jest":{"bail":true}}'
    expect(JSON.parse(freeze('package.json', pack, true) ?? '')).toEqual({ type: 'module' })
    expect(JSON.parse(freeze('package.json', pack, false) ?? '')).toEqual({})
    const build = '[build-system]\nrequires = ["hatchling"]\n'
    const pytest = '[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n'
    expect(freeze('pyproject.toml', build + pytest, true)).toBeUndefined()
    const kept = freeze('pyproject.toml', `${build}${pytest}addopts = "-p evil"\n`, true)
    expect([kept?.includes('pythonpath'), kept?.includes('evil')]).toEqual([true, false])
    expect(freeze('pyproject.toml', build + pytest, false)).not.toContain('pythonpath')
  })

  it('loses of a go.mod only what leads to other code', () => {
    const start = 'module m\ngo 1.22\nrequire a v1.0.0\n'
    expect(freezeNew('go.mod', start, rule('go.mod'), false)).toBeUndefined()
    expect(freezeNew('go.mod', `${start}toolchain go1.23.0\nreplace a => ./evil\n`, rule('go.mod'), true)).toBe(start)
  })
})
