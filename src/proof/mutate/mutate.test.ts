import { describe, expect, it } from 'vitest'
import { readEffect } from './code-text.ts'
import { hollowCode } from './hollow.ts'
import { createMutants, spread } from './mutants.ts'

describe('hollow code', () => {
  it.each([
    ['export function sum(a) {\n  return a ? { b: 1 } : "}"\n}\n', 'export function sum(a) {}\n'],
    ['const f = (a) => a + 1\nconst n = 2\n', 'const f = (a) => undefined\nconst n = 2\n'],
    ['const f = async (a) => {\n  await a\n}', 'const f = async (a) => {}'],
    ['list.map((x) => x * 2, 1)', 'list.map((x) => undefined, 1)'],
    [
      'class A extends B {\n  constructor() {\n    super()\n  }\n  get x() { return 1 }\n}',
      'class A extends B {\n  constructor() {\n    super()\n  }\n  get x() {}\n}',
    ],
    ['function f(a: string): number {\n  // }\n  return /}/.test(a) ? 1 : 2\n}', 'function f(a: string): number {}'],
  ])('of %j', (text, hollow) => {
    expect(hollowCode('a.ts', text)).toBe(hollow)
  })

  it('of Python', () => {
    const text =
      'import os\n\n@x\ndef f(a: int = 1) -> int:\n    if a:\n        return "):"\n\n    return 2\n\nclass A:\n    def g(self): return 1\n\nB = 1\n'
    expect(hollowCode('a.py', text)).toBe(
      'import os\n\n@x\ndef f(a: int = 1) -> int: return None\nclass A:\n    def g(self): return None\nB = 1\n',
    )
  })

  it.each([
    ['a table', 'a.js', 'export const units = { km: 1000, m: 1 }\nif (x) { y() }\n'],
    ['a compiled language', 'a.go', 'func f() int { return 1 }'],
    ['data', 'a.json', '{"a": 1}'],
  ])('is not made of %s', (_, path, text) => {
    expect(hollowCode(path, text)).toBeUndefined()
  })
})

it.each([
  ['a.js', 'a()', 'a() // ignores text\n', true],
  ['a.js', '', "'use strict'\nexport {}\n/* done */", true],
  ['a.py', '', '# done\n', true],
  ['a.js', 'a("x")', 'a("y")', false],
  ['a.md', 'x', 'y', false],
])('sees whether a change of %s from %j to %j has no effect', (path, before, after, same) => {
  expect(readEffect(path, before) === readEffect(path, after)).toBe(same)
})

it('makes mutants of changed lines only, none in comments, strings and imports', () => {
  const before = 'const a = 1\n'
  const after = "import { x } from './1'\nconst a = 1\nreturn a <= 2 && x === '<=' // a + b\n"

  expect(createMutants('a.js', before, after).map(({ line, change }) => `${line}: ${change}`)).toEqual([
    '3: === to !==',
    '3: <= to >',
    '3: && to ||',
    '3: 2 to 3',
  ])
  expect(createMutants('a.js', before, after)[1]?.text).toContain("return a > 2 && x === '<='")
})

it('spreads a long list', () => {
  expect(spread(Array.from({ length: 16 }, (_, n) => n)).slice(0, 8)).toEqual([0, 2, 4, 6, 8, 10, 12, 14])
})
