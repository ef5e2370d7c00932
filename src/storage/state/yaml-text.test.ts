import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { formatYaml, formatYamlBytes } from './yaml-text.ts'

const back = (value: object): unknown => parse(formatYaml(value))

const hostile = [
  '',
  ' ',
  '\n',
  '\n\n',
  ' leading',
  'trailing ',
  '\tTab',
  'tab at the end\t',
  '- item',
  '-',
  '? key',
  ': value',
  'a: b',
  'a #b',
  '#comment',
  '&anchor',
  '*alias',
  '!tag',
  '%directive',
  '@at',
  '`tick`',
  '|',
  '>',
  "'single'",
  '"double"',
  '{a: 1}',
  '[1, 2]',
  '---',
  '...',
  '--- # not the end',
  '~',
  'null',
  'Null',
  'true',
  'False',
  'yes',
  'NO',
  'on',
  'off',
  'y',
  'N',
  '<<',
  '=',
  '0',
  '-1',
  '1e3',
  '0x1F',
  '0o17',
  '017',
  '1_000',
  '.5',
  '.inf',
  '-.INF',
  '.nan',
  '12:30:45',
  '2026-11-15',
  '2026-11-15T12:00:00Z',
  'a\nb',
  'a\nb\n',
  'a\nb\n\n',
  '\na',
  ' a\n  b\n c',
  'a\n  b\n',
  'a\n\n\nb',
  'a \nb',
  'a\n\tb',
  'a\n \nb',
  'a\r\nb',
  'a\rb',
  'key:\n  - not yaml\n# nor a comment\n--- \n...\n',
  '```json\n{"status": "continue"}\n```',
  'next\u0085line',
  'line\u2028paragraph\u2029',
  'line\nand\u2028separator',
  '\ufeffbom',
  'bom\ninside\ufeff',
  '\u00a0nbsp\n\u00a0',
  'a\n\u3000',
  '😀 emoji\n👩‍👩‍👧‍👦 family',
  'lone \ud800 surrogate',
  'lone\n\udc00 surrogate',
  '\0\u0001\u001b[31m\u007f\u009f',
  'control\n\u0007bell',
  '\ufffe\uffff',
  'x'.repeat(300),
  `${'long line '.repeat(50)}\n${'another '.repeat(50)}`,
  '__proto__',
]

describe('YAML text', () => {
  it.each(hostile)('reads back %j, no matter where it stands', (text) => {
    const value = {
      text,
      list: [text, [text], { text, after: 1 }],
      nested: { deeper: { text }, after: true },
      [text === '__proto__' ? 'proto' : text]: 'as a key',
    }
    expect(back(value)).toEqual(value)
    expect(back([text, text])).toEqual([text, text])
  })

  it('reads back any value', () => {
    const unit = fc.oneof(
      fc.constantFrom(...'\n| |\t|-|#|:|?|>|&|*|!|%|@|`|\'|"|{|}|[|]|,|\r|\\|a|b|0|1|~|.|='.split('|'), '|'),
      fc.constantFrom('\u0085', '\u2028', '\ufeff', '\u00a0', '😀', '\0', '\ud800'),
    )
    const text = fc.oneof(fc.string({ unit }), fc.constantFrom(...hostile))
    const key = text.filter((name) => name !== '__proto__')
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        text,
        fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }))
    const document = fc.oneof(fc.array(value), fc.dictionary(key, value, { noNullPrototype: true }))
    fc.assert(
      fc.property(
        document.filter((drawn) => Object.keys(drawn).length > 0),
        (drawn) => {
          expect(back(drawn)).toEqual(withoutNegativeZero(drawn))
        },
      ),
      { numRuns: 1500 },
    )
  })

  it('leaves out what is undefined, and shows what is empty', () => {
    expect(formatYaml({ a: undefined, b: [], c: {}, d: { e: undefined }, f: null })).toBe(
      'b: []\nc: {}\nd: {}\nf: null\n',
    )
  })

  it('has the current depth, no matter where it was before', () => {
    const one = { id: 'one', tags: [{ name: 'a' }] }
    expect(formatYaml([one])).toBe('- id: one\n  tags:\n    - name: a\n')
    expect(formatYaml({ in: [one] })).toBe('in:\n  - id: one\n    tags:\n      - name: a\n')
    expect(formatYaml([one])).toBe('- id: one\n  tags:\n    - name: a\n')
  })

  it('looks as a person would write it', () => {
    const value = {
      status: 'in-progress',
      goal: 'Make it work.\n\nAnd keep it simple.\n',
      steps: [
        { id: 'step-0', prompt: 'first: this', done: true },
        { id: 'step-1', tags: ['a', 'b'] },
      ],
    }
    expect(formatYaml(value)).toBe(`status: in-progress
goal: |
  Make it work.

  And keep it simple.
steps:
  - id: step-0
    prompt: "first: this"
    done: true
  - id: step-1
    tags:
      - a
      - b
`)
  })
})

/** JSON has only one zero. */
const withoutNegativeZero = (value: object): unknown => JSON.parse(JSON.stringify(value))

describe('the bytes of a map with long lists', () => {
  const item = fc.record({ id: fc.string(), done: fc.boolean() }).map((value) => Object.freeze(value))

  it('are those of its text, also after items were changed, added, removed and moved', () => {
    const change = fc.record({
      at: fc.nat(400),
      removed: fc.integer({ min: 0, max: 3 }),
      added: fc.array(item, { maxLength: 3 }),
    })
    fc.assert(
      fc.property(fc.array(item, { minLength: 120, maxLength: 400 }), fc.array(change), (first, changes) => {
        let items: readonly object[] = first
        for (const { at, removed, added } of [{ at: 0, removed: 0, added: [] }, ...changes]) {
          items = items.toSpliced(at, removed, ...added)
          const map = { rev: 1, none: undefined, items, empty: [], last: { of: 'all' } }
          expect(formatYamlBytes(map).toString()).toBe(formatYaml(map))
        }
      }),
      { numRuns: 50 },
    )
  })

  it('are formatted again only where an item has changed', () => {
    const texts: string[] = []
    const counted = (id: number) => ({
      get id() {
        texts.push(String(id))
        return id
      },
    })
    const items = Array.from({ length: 1000 }, (_, id) => counted(id))
    formatYamlBytes({ items })
    texts.length = 0
    formatYamlBytes({ items: items.with(500, counted(5000)) })

    expect(new Set(texts)).toEqual(new Set(['5000']))
  })
})
