import { expect, it } from 'vitest'
import { globMatcher } from './glob.ts'

it.each([
  ['test/**', 'test/a.js', true],
  ['test/**', 'src/test/a.js', false],
  ['test', 'src/test/a.js', true],
  ['test/', 'test/deep/a.js', true],
  ['./test/a.js', 'test/a.js', true],
  ['**/test_*.py', 'test_a.py', true],
  ['**/test_*.py', 'a/b/test_a.py', true],
  ['**/test_*.py', 'a/test_a.py.txt', false],
  ['*.snap', 'a/b.snap', true],
  ['*.{test,spec}.{js,ts}', 'a/b.spec.ts', true],
  ['*.{test,spec}.{js,ts}', 'a/b.spec.rs', false],
  ['{test,tests}/**', 'tests/a', true],
  ['a?c/x', 'abc/x', true],
  ['a?c/x', 'a/c/x', false],
  ['[ab].js', 'b.js', true],
  ['[!ab].js', 'b.js', false],
  ['a+b(c).js', 'a+b(c).js', true],
  ['**', 'x/y', true],
  ['docs/*.md', 'docs/a/b.md', false],
])('%s matches %s: %s', (glob, path, answer) => {
  expect(globMatcher([glob])(path)).toBe(answer)
})

it('matches nothing without globs', () => {
  expect(globMatcher([])('a')).toBe(false)
})
