import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { fitText, measureWidth, wrapText } from './width.ts'

it('counts like a terminal does, including on the fast path', () => {
  const codes = Array.from({ length: 0x10000 - 0x20 }, (_, at) => at + 0x20)
  // All below the CJK characters, which are many and alike: of those, some with the ends of their blocks.
  const tested = codes.filter((code) => code < 0x3200 || [0, 35, 36, 63].includes(code % 64))
  const characters = tested.map((code) => String.fromCodePoint(code))
  const other = characters.filter((character) => measureWidth(character) !== stringWidth(character))

  expect(other).toEqual([])
})

it.each([
  ['plain text', 6, 'plain…'],
  ['日本語のゴール', 6, '日本…'],
  ['👩‍👩‍👧 family', 4, '👩‍👩‍👧 …'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ['fits', 4, 'fits'],
])('truncates "%s" to %i columns between characters', (text, width, cut) => {
  expect(fitText(text, width)).toBe(cut)
})

it.each([
  ['Cyrillic', 'слово '.repeat(4).trim(), 12, ['слово слово', 'слово слово']],
  ['mixed', 'ab漢字👩‍👩‍👧e\u0301 end', 5, ['ab漢', '字👩‍👩‍👧e\u0301', 'end']],
  ['exact', '漢👍', 4, ['漢👍']],
])('wraps a text by its columns: %s', (_, text, width, rows) => {
  expect(wrapText(text, width, 9)).toEqual(rows)
})

it('wraps a long line of wide characters', () => {
  const full = '漢'.repeat(39)

  expect(wrapText('漢'.repeat(2000), 78, 60)).toEqual([...Array.from({ length: 51 }, () => full), '漢'.repeat(11)])
  expect(wrapText('漢'.repeat(2000), 78, 3)).toEqual([full, full, `${'漢'.repeat(38)}…`])
})
