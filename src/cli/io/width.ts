import { createRequire } from 'node:module'
import type * as Exact from 'string-width'

/** Latin letters, dashes, quotes, box drawing and our own marks: one column and one UTF-16 unit each. */
const simple = /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2500-\u259f○●✓✗]*$/

/** The width of a text on a terminal in columns: two for CJK and emoji, none for colours. */
export const widthOf = (text: string): number => (simple.test(text) ? text.length : exactWidthOf(text))

// Loading the Unicode tables takes longer than all the work of `ralph status`, and few texts need them.
let loaded: typeof Exact | undefined
let segmenter: Intl.Segmenter | undefined

function exactWidthOf(text: string): number {
  const exact: typeof Exact = (loaded ??= createRequire(import.meta.url)('string-width'))
  return exact.default(text)
}

const characters = (text: string): Intl.Segments =>
  (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })).segment(text)

/** Truncates a plain text with an ellipsis. Never splits a character. */
export function fit(text: string, width: number): string {
  if (width <= 0) return ''
  if (widthOf(text) <= width) return text
  if (simple.test(text)) return `${text.slice(0, width - 1)}…`
  let kept = ''
  let used = 0
  for (const { segment } of characters(text)) {
    const size = widthOf(segment)
    if (used + size > width - 1) break
    kept += segment
    used += size
  }
  return `${kept}…`
}

/** Pads with blanks to a width; longer texts stay as they are. */
export const padTo = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Puts two texts at the two ends of a line; drops the right one if there is no room. */
export function ends(left: string, right: string, width: number): string {
  const room = width - widthOf(left) - widthOf(right)
  return room >= 2 ? left + ' '.repeat(room) + right : left
}

/** Removes the last grapheme. */
export const withoutLast = (text: string): string =>
  Array.from(characters(text), ({ segment }) => segment)
    .slice(0, -1)
    .join('')

// oxlint-disable-next-line no-control-regex -- the colours of paint.ts
const painted = /(\u001b\[\d+m)/

/** Like `fit`, for a text with colours: escape sequences stay whole, and colours end with the text. */
export function fitPainted(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let left = width
  const parts = text.split(painted).map((part) => {
    if (painted.test(part)) return part
    const kept = fit(part, left)
    left -= widthOf(part)
    return kept
  })
  return parts.join('')
}

/** Wraps a plain text, between words where possible, and ends the last line with an ellipsis if the text is longer. */
export function wrap(text: string, width: number, mostLines: number): string[] {
  const lines: string[] = []
  let rest = text
  while (lines.length < mostLines - 1 && widthOf(rest) > width) {
    const whole = fit(rest, width + 1).slice(0, -1)
    const blank = whole.lastIndexOf(' ')
    const line = blank > width / 3 && rest[whole.length] !== ' ' ? whole.slice(0, blank) : whole
    lines.push(line.trimEnd())
    rest = rest.slice(line.length).trimStart()
  }
  return [...lines, fit(rest, width)]
}
