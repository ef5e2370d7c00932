import stringWidth from 'string-width'

/** Columns that a text takes on a terminal: two for CJK and emoji, none for colours. */
export const widthOf = (text: string): number => stringWidth(text)

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** As much of a plain text as fits, with an ellipsis if something is left out. Never cuts a character in two. */
export function fit(text: string, width: number): string {
  if (width <= 0) return ''
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of segmenter.segment(text)) {
    const size = widthOf(segment)
    if (used + size > width - 1) break
    kept += segment
    used += size
  }
  return `${kept}…`
}

/** Filled up with blanks to a width; longer texts stay as they are. */
export const padTo = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Two texts at the two ends of a line; the right one goes first if there is no room. */
export function ends(left: string, right: string, width: number): string {
  const room = width - widthOf(left) - widthOf(right)
  return room >= 2 ? left + ' '.repeat(room) + right : left
}

/** Without its last character, as a person sees characters. */
export const withoutLast = (text: string): string =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)
    .slice(0, -1)
    .join('')
