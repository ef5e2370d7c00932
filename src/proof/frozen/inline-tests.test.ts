import { describe, expect, it } from 'vitest'
import { exchangeInlineTests } from './inline-tests.ts'

const rust = (body: string, expected: number) =>
  `pub fn sum(n: &[i64]) -> i64 {\n    ${body}\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(sum(&[1, 2]), ${expected}); // }\n    }\n}\n`

const rustExample = (expected: number) =>
  `/// Adds.\n///\n/// \`\`\`\n/// assert_eq!(calc::add(1, 2), ${expected});\n/// \`\`\`\npub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n`

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

  it('of rustdoc run as they were beside those of the claim', () => {
    const found = exchangeInlineTests('src/lib.rs', rustExample(3), rustExample(-1))
    const old =
      '/// ```\n/// assert_eq!(calc::add(1, 2), 3);\n/// ```\n#[cfg(doctest)]\nfn start_example_616464_1() {}\n'
    expect(found?.oldOnNew).toBe(`${rustExample(-1)}\n${old}`)
    expect(found?.newOnOld).toBe(`${rustExample(3)}\n${old.replace(' 3)', ' -1)')}`)
  })

  it('of rustdoc that the claim keeps are not added to it', () => {
    const added = '/// ```\n/// assert_eq!(calc::one(), 1);\n/// ```\npub fn one() -> i32 { 1 }\n'
    const found = exchangeInlineTests('src/lib.rs', rustExample(3), rustExample(3) + added)
    expect(found?.oldOnNew).toBe(rustExample(3) + added)
    expect(found?.newOnOld).toContain('calc::one()')
  })

  it.each([
    ['other prose', rustExample(3).replace('Adds.', 'Adds two numbers.')],
    ['an example in another language', rustExample(3).replace('Adds.', 'Adds.\n///\n/// ```text\n/// 1 + 2\n/// ```')],
    ['an ignored example', rustExample(3).replace('Adds.', 'Adds.\n///\n/// ```ignore\n/// add(1)\n/// ```')],
    ['a comment of four slashes', rustExample(3).replace('/// Adds.', '//// ```\n//// add(1)\n//// ```\n/// Adds.')],
  ])('of rustdoc are the same with %s', (_, text) => {
    expect(exchangeInlineTests('src/lib.rs', rustExample(3), text)).toBeUndefined()
  })

  it.each(['ignore', 'no_run', 'text', 'should_panic'])('of rustdoc that become `%s` run as they were', (word) => {
    const found = exchangeInlineTests('src/lib.rs', rustExample(3), rustExample(3).replace('```', `\`\`\`${word}`))
    expect(found?.oldOnNew).toContain('/// ```\n/// assert_eq!(calc::add(1, 2), 3);\n/// ```\n#[cfg(doctest)]')
  })

  it('are looked for in code only', () => {
    expect(exchangeInlineTests('README.md', '>>> 1\n1', '>>> 1\n2')).toBeUndefined()
  })
})
