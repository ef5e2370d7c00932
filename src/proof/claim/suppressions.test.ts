import { describe, expect, it } from 'vitest'
import { claimAfter, createCheck, green } from '../../../test/support/claim.ts'
import { put, type Files } from '../../../test/support/room.ts'
import { readSuppressions } from './suppressions.ts'

const compile = 'gcc -Wall -Werror -fsyntax-only sum.c'
const unused = 'int sum(int a, int b) {\n  int rest = a;\n  return a + b;\n}\n'
const project: Files = { 'sum.c': unused }
const switchedOff = '#pragma GCC diagnostic ignored "-Wunused-variable"\n'

const claim = (files: Files, after: Files, run: string) =>
  claimAfter(files, (folder) => put(folder, after), { check: createCheck(run) })

describe('findings that the work switches off', () => {
  it('are a question for the user, which names the line', async () => {
    const { proof } = await claim(project, { 'sum.c': `${switchedOff}${unused}` }, compile)
    expect(proof).toMatchObject({
      verdict: 'contested',
      reasons: ['Red without new lines that switch findings off: sum.c:1'],
    })
    expect(proof.prompt).not.toContain('sum.c')
  })

  it('are not confused with mended ones', async () => {
    const { proof } = await claim(project, { 'sum.c': unused.replace('  int rest = a;\n', '') }, compile)
    expect(proof).toMatchObject({ verdict: 'proved' })
  })

  it('do not matter where the check is green without them', async () => {
    const mended = `${switchedOff}${unused.replace('  int rest = a;\n', '')}`
    const { proof } = await claim(project, { 'sum.c': mended }, compile)
    expect(proof).toMatchObject({ verdict: 'proved' })
  })

  it('may have been there at the start', async () => {
    const known = `${switchedOff}${unused}`
    const { proof } = await claim({ 'sum.c': known.replace('b;', 'c;') }, { 'sum.c': known }, compile)
    expect(proof).toMatchObject({ verdict: 'proved' })
  })

  it('count for a whole file only where tests have names', async () => {
    const files = { ...green, 'lib.js': 'exports.add = (a, b) => a - b\n', 'sum.c': 'int sum;\n' }
    const run = `node --test && ${compile}`
    const added = { 'lib.js': green['lib.js'] ?? '' }
    const wide = await claim(files, { ...added, 'sum.c': `${switchedOff}${unused}` }, run)
    expect(wide.proof).toMatchObject({ verdict: 'contested' })
    const line = unused.replace('int rest', 'int rest __attribute__((unused)) // NOLINT\n')
    const narrow = await claim(files, { ...added, 'sum.c': line }, run)
    expect(narrow.proof).toMatchObject({ verdict: 'proved' })
  })
})

describe('a comment or attribute that switches findings off', () => {
  const read = (line: string, scope: 'in-files' | 'everywhere') =>
    readSuppressions([{ path: 'a', before: 'code\n', after: `code\n${line}\n` }], scope)

  it.each([
    '// @ts-nocheck',
    '/* eslint-disable */',
    '/* eslint-disable no-undef */',
    '// oxlint-disable',
    '// biome-ignore-all lint: later',
    '// deno-lint-ignore-file',
    '# mypy: ignore-errors',
    '# pylint: skip-file',
    '# ruff: noqa',
    '# type: ignore',
    '#![allow(warnings)]',
    '#![cfg_attr(not(test), allow(dead_code))]',
    '#pragma GCC diagnostic ignored "-Wall"',
    '#pragma warning(disable: 4996)',
    '@file:Suppress("unused")',
  ])('for a whole file is found: %s', (line) => {
    expect(read(line, 'in-files')).toMatchObject({ lines: ['a:2'] })
  })

  it.each([
    '// @ts-ignore',
    '// @ts-expect-error later',
    'go() // eslint-disable-line',
    '// eslint-disable-next-line no-undef',
    'x = f() # type: ignore[arg-type]',
    'x = f() # noqa: E501',
    '# pylint: disable=all',
    '#[allow(dead_code)]',
    '@SuppressWarnings("unchecked")',
    'f() //nolint:errcheck',
    'f(); // NOLINT',
    '# rubocop:disable Metrics/MethodLength',
    '# shellcheck disable=SC2086',
    '/** @phpstan-ignore-next-line */',
    '/* istanbul ignore next */',
  ])('for a line is found only where it counts: %s', (line) => {
    expect(read(line, 'everywhere')).toMatchObject({ lines: ['a:2'] })
    expect(read(line, 'in-files')).toMatchObject({ lines: [] })
  })

  it.each(['// expect an error', 'allow(this)', '/* eslint is our linter */', 'suppress(warnings)', '# a type'])(
    'is not found in other text: %s',
    (line) => {
      expect(read(line, 'everywhere')).toMatchObject({ lines: [] })
    },
  )

  it('is new if there is one more of it than at the start', () => {
    const change = { path: 'a', before: '// @ts-ignore\nf()\n', after: '// @ts-ignore\nf()\n// @ts-ignore\ng()\n' }
    const { lines, texts } = readSuppressions([change], 'everywhere')
    expect(lines).toEqual(['a:3'])
    expect(texts).toEqual([{ path: 'a', text: '// @ts-ignore\nf()\n// \ng()\n' }])
  })
})
