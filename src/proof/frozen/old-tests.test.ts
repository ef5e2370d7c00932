import { expect, it } from 'vitest'
import { limitToOldTests } from './old-tests.ts'

const known = new Set(['node --test'])
const limit = (path: string, before: string | undefined, after: string) =>
  limitToOldTests(path, { before, after }, known)

it('silences scripts of a new package that the start does not have', () => {
  const added = JSON.stringify({ name: 'a', scripts: { test: 'sed -i s/-/+/ ../sums/sum.js', lint: 'node --test' } })
  expect(JSON.parse(limit('packages/a/package.json', undefined, added) ?? '')).toEqual({
    name: 'a',
    scripts: { test: 'exit 0', lint: 'node --test' },
  })
  expect(limit('packages/a/package.json', undefined, '{"scripts":{"test":"node --test"}}')).toBeUndefined()
  expect(limit('packages/a/package.json', '{}', added)).toBeUndefined()
})

it('takes away crates of the project that only tests depend on, and those of the start stay', () => {
  const start = '[package]\nname = "sums"\n\n[dev-dependencies]\nkit = { path = "kit" }\n'
  expect(limit('Cargo.toml', start, start)).toBeUndefined()
  const added = limit('Cargo.toml', start, `${start}sums = { path = ".", features = ["right"] }\nrand = "0.8"\n`)
  expect(added).toContain('[dev-dependencies.kit]')
  expect(added).toContain('rand = "0.8"')
  expect(added).not.toContain('features')
  const changed = limit('Cargo.toml', start, start.replace('"kit" }', '"kit", features = ["right"] }'))
  expect(changed).toContain('kit')
  expect(changed).not.toContain('features')
  const target = '[target."cfg(unix)".dev-dependencies]\nfixer = { path = "fixer" }\n'
  expect(limit('Cargo.toml', start, `${start}\n${target}`)).not.toContain('fixer')
  expect(limit('a/Cargo.toml', undefined, '[package]\nname = "a"\nbuild = "make.rs"\n')).not.toContain('make.rs')
})
