import { describe, expect, it } from 'vitest'
import { exchangeInlineTests } from './inline-tests.ts'

const rust = (body: string, expected: number) =>
  `pub fn sum(n: &[i64]) -> i64 {\n    ${body}\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(sum(&[1, 2]), ${expected}); // }\n    }\n}\n`

describe('tests inside a source file', () => {
  it('of Rust are exchanged as a module', () => {
    const found = exchangeInlineTests('src/lib.rs', rust('wrong(n)', 3), rust('right(n)', -3))
    expect(found?.oldOnNew).toContain('right(n)')
    expect(found?.oldOnNew).toContain('assert_eq!(sum(&[1, 2]), 3)')
    expect(found?.oldOnNew).not.toContain('-3')
    expect(found?.newOnOld).toContain('wrong(n)')
    expect(found?.newOnOld).toContain('-3')
  })

  it('that are the same need no exchange', () => {
    expect(exchangeInlineTests('src/lib.rs', rust('wrong(n)', 3), rust('right(n)', 3))).toBeUndefined()
  })

  it('that are new are tried on the old code, and the new code keeps them', () => {
    const before = 'pub fn sum() -> i64 { 0 }\n'
    const after = `${before}#[test]\nfn adds() { assert_eq!(sum(), 0); }\n`
    expect(exchangeInlineTests('src/a.rs', before, after)).toEqual({
      oldOnNew: after,
      newOnOld: `${before}\n#[test]\nfn adds() { assert_eq!(sum(), 0); }\n`,
    })
  })

  it('of vitest are exchanged as a block', () => {
    const source = (expected: number) =>
      `export const add = 1\nif (import.meta.vitest) {\n  it('adds', () => { expect(add).toBe(${expected}) })\n}\n`
    expect(exchangeInlineTests('src/a.ts', source(2), source(1))?.oldOnNew).toContain('toBe(2)')
  })

  it('of doctest run as they were beside those of the claim', () => {
    const source = (body: string, expected: number) =>
      `def total(numbers):\n    """Adds up.\n\n    >>> total([1, 2])\n    ${expected}\n    """\n    return ${body}\n`
    const found = exchangeInlineTests('calc/sums.py', source('0', 3), source('1', 1))
    expect(found?.oldOnNew).toContain('__test__ = {\n    "start 1": "Adds up.\\n\\n>>> total([1, 2])\\n3\\n')
    expect(found?.oldOnNew).toContain('return 1')
  })

  it('are looked for in code only', () => {
    expect(exchangeInlineTests('README.md', '>>> 1\n1', '>>> 1\n2')).toBeUndefined()
  })
})
