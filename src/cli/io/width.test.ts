import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { fitText, measureWidth } from './width.ts'

it('counts like a terminal does, including on the fast path', () => {
  const characters = Array.from({ length: 0x3000 - 0x20 }, (_, at) => String.fromCodePoint(at + 0x20))
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
