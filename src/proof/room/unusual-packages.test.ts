import { describe, expect, it } from 'vitest'
import { localPlace, unusualLocked, unusualSpecs, type PackageRules } from './unusual-packages.ts'

const rules: PackageRules = { isKnown: (name) => name === 'vitest', hosts: new Set(['npm.example.org']) }
const manifest = (dependencies: Readonly<Record<string, string>>): string => JSON.stringify({ dependencies })
const lock = (packages: Readonly<Record<string, unknown>>): string => JSON.stringify({ packages })
const tarball = (name: string, host = 'registry.npmjs.org') => `https://${host}/${name}/-/${name}-1.0.0.tgz`

describe('a manifest', () => {
  it.each([
    ['a version', { left: '^1.0.0' }, []],
    ['a package of the workspace', { left: 'workspace:*' }, []],
    ['a new file of the project', { left: 'file:vendor/left.tgz' }, []],
    ['a file in place of a known package', { vitest: 'file:vendor/left.tgz' }, ['vitest@file:vendor/left.tgz']],
    ['a file outside the project', { left: 'file:../left' }, ['left@file:../left']],
    ['an alias', { left: 'npm:evil@1' }, ['left@npm:evil@1']],
    ['an address', { left: 'https://evil.example/left.tgz' }, ['left@https://evil.example/left.tgz']],
    ['a repository', { left: 'someone/left' }, ['left@someone/left']],
  ])('with %s', (_, dependencies, found) => {
    const texts = { before: manifest({}), after: manifest(dependencies) }
    expect(unusualSpecs(texts, rules)).toEqual(found)
    expect(unusualSpecs({ ...texts, before: texts.after }, rules)).toEqual([])
  })
})

describe('a lockfile of npm', () => {
  const before = lock({
    'node_modules/chai': { version: '1.0.0', resolved: tarball('chai'), integrity: 'sha512-a' },
    'node_modules/texts': { resolved: 'packages/texts', link: true },
  })
  it.each<readonly [string, Record<string, unknown>, string[]]>([
    ['a package of the registry', { 'node_modules/left': { version: '1.0.0', resolved: tarball('left') } }, []],
    [
      'one of the registry that the user configured',
      { 'node_modules/left': { resolved: tarball('left', 'npm.example.org') } },
      [],
    ],
    [
      'a new version',
      { 'node_modules/chai': { version: '2.0.0', resolved: tarball('chai'), integrity: 'sha512-b' } },
      [],
    ],
    ['a new package of the project', { 'node_modules/dates': { resolved: 'packages/dates', link: true } }, []],
    ['a package of the project that moved', { 'node_modules/texts': { resolved: 'libs/texts', link: true } }, []],
    ['a new file of the project', { 'node_modules/left': { resolved: 'file:vendor/left.tgz' } }, []],
    [
      'another host',
      { 'node_modules/left': { resolved: tarball('left', 'evil.example') } },
      [`left@${tarball('left', 'evil.example')}`],
    ],
    [
      'the archive of another package',
      { 'node_modules/left': { resolved: tarball('evil') } },
      [`left@${tarball('evil')}`],
    ],
    [
      'other content for a known version',
      { 'node_modules/chai': { version: '1.0.0', resolved: tarball('chai'), integrity: 'sha512-b' } },
      [`chai@${tarball('chai')} with other content`],
    ],
    [
      'a link in place of a known package',
      { 'node_modules/chai': { resolved: 'packages/chai', link: true } },
      ['chai@packages/chai'],
    ],
    [
      'a file in place of a package that is only installed',
      { 'node_modules/vitest': { resolved: 'file:v.tgz' } },
      ['vitest@file:v.tgz'],
    ],
    [
      'a file inside of another package',
      { 'node_modules/chai/node_modules/left': { resolved: 'file:left.tgz' } },
      ['left@file:left.tgz'],
    ],
    ['a link out of the project', { 'node_modules/left': { resolved: '../left', link: true } }, ['left@../left']],
    [
      'an install script',
      { 'node_modules/left': { resolved: tarball('left'), hasInstallScript: true } },
      [`left@${tarball('left')} with an install script`],
    ],
  ])('with %s', (_, packages, found) => {
    expect(unusualLocked('package-lock.json', { before, after: lock(packages) }, rules)).toEqual(found)
  })
})

describe('another list of packages', () => {
  it.each([
    ['yarn.lock', 'left@^1:\n  resolved "https://registry.yarnpkg.com/left/-/left-1.tgz#1"', 0],
    ['yarn.lock', '"@a/left@^1":\n  resolved "https://registry.yarnpkg.com/@a/left/-/left-1.tgz#1"', 0],
    ['yarn.lock', 'chai@^1:\n  resolved "https://registry.yarnpkg.com/evil/-/evil-1.tgz#1"', 1],
    ['yarn.lock', 'left@^1:\n  resolved "https://evil.example/left/-/left-1.tgz#1"', 1],
    ['pnpm-lock.yaml', '  left@1.0.0:\n    resolution: {integrity: sha512-a}', 0],
    ['pnpm-lock.yaml', '  left@1.0.0:\n    resolution: {tarball: file:left.tgz}', 1],
    ['bun.lock', '    "left": ["left@1.0.0", "", {}, "sha512-a"],', 0],
    ['bun.lock', '    "vitest/left": ["left@1.0.0", "", {}, "sha512-a"],', 0],
    ['bun.lock', '    "chai": ["evil@1.0.0", "", {}, "sha512-a"],', 1],
    ['requirements.txt', 'left==1.0\n# ./a comment\nright>=2 ; python_version < "3.12"', 0],
    ['requirements.txt', '-e ./plugin', 1],
    ['requirements.txt', './plugin', 1],
    ['requirements.txt', '--extra-index-url https://evil.example/simple', 1],
    ['requirements.txt', 'left @ git+https://github.com/a/left', 1],
    ['uv.lock', 'source = { editable = "plugin" }', 1],
    ['Gemfile.lock', 'PATH\n  remote: plugin', 1],
  ])('%s: %s', (path, after, count) => {
    expect(unusualLocked(path, { before: 'old==1\n', after: `old==1\n${after}\n` }, rules)).toHaveLength(count)
  })
})

it.each([
  ['file:vendor/x.tgz', 'vendor/x.tgz'],
  ['file:./vendor/', 'vendor'],
  ['file:a/../../x', undefined],
  ['file:/x', undefined],
  ['file:~/x', undefined],
  ['file:.', undefined],
])('the place of %s in the project', (spec, place) => {
  expect(localPlace(spec)).toBe(place)
})
