import { createRequire } from 'node:module'
import type * as Exact from 'string-width'
import { lazy } from '../../platform/lazy.ts'

/** Latin letters, dashes, quotes, box drawing and our own marks: one column and one UTF-16 unit each. */
const simple = /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2500-\u259f○●✓✗]*$/

/** The width of a text on a terminal in columns: two for CJK and emoji, none for colours. */
export const measureWidth = (text: string): number => (simple.test(text) ? text.length : measureExactWidth(text))

// Loading the Unicode tables takes longer than all the work of `ralph status`, and few texts need them.
const loadStringWidth = lazy((): typeof Exact => createRequire(import.meta.url)('string-width'))
const createSegmenter = lazy(() => new Intl.Segmenter(undefined, { granularity: 'grapheme' }))

const measureExactWidth = (text: string): number => loadStringWidth().default(text)

const splitGraphemes = (text: string): Intl.Segments => createSegmenter().segment(text)

/** Truncates a plain text with an ellipsis. Never splits a character. */
export function fitText(text: string, width: number): string {
  if (width <= 0) return ''
  if (measureWidth(text) <= width) return text
  if (simple.test(text)) return `${text.slice(0, width - 1)}…`
  let kept = ''
  let used = 0
  for (const { segment } of splitGraphemes(text)) {
    const size = measureWidth(segment)
    if (used + size > width - 1) break
    kept += segment
    used += size
  }
  return `${kept}…`
}

/** Pads with blanks to a width; longer texts stay as they are. */
export const padTo = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - measureWidth(text)))

/** Puts two texts at the two ends of a line; drops the right one if there is no room. */
export function joinEnds(left: string, right: string, width: number): string {
  const room = width - measureWidth(left) - measureWidth(right)
  return room >= 2 ? left + ' '.repeat(room) + right : left
}

/** Removes the last grapheme. */
export const dropLastCharacter = (text: string): string =>
  Array.from(splitGraphemes(text), ({ segment }) => segment)
    .slice(0, -1)
    .join('')

// oxlint-disable-next-line no-control-regex -- the colours of paint.ts
const painted = /(\u001b\[\d+m)/

/** Like `fit`, for a text with colours: escape sequences stay whole, and colours end with the text. */
export function fitPainted(text: string, width: number): string {
  if (measureWidth(text) <= width) return text
  let left = width
  const parts = text.split(painted).map((part) => {
    if (painted.test(part)) return part
    const kept = fitText(part, left)
    left -= measureWidth(part)
    return kept
  })
  return parts.join('')
}

/** Wraps a plain text, between words where possible, and ends the last line with an ellipsis if the text is longer. */
export function wrapText(text: string, width: number, maxLines: number): string[] {
  const lines: string[] = []
  let rest = text
  while (lines.length < maxLines - 1 && measureWidth(rest) > width) {
    const whole = fitText(rest, width + 1).slice(0, -1)
    const blank = whole.lastIndexOf(' ')
    const line = blank > width / 3 && rest[whole.length] !== ' ' ? whole.slice(0, blank) : whole
    lines.push(line.trimEnd())
    rest = rest.slice(line.length).trimStart()
  }
  return [...lines, fitText(rest, width)]
}
