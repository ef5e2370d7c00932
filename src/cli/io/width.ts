import { createRequire } from 'node:module'
import type * as Exact from 'string-width'
import { lazy } from '../../platform/lazy.ts'

/** Latin and Cyrillic letters, dashes, quotes, box drawing and our own marks: one column and one UTF-16 unit each. */
const simple = /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2500-\u259f○●✓✗]*$/

/** Kana, CJK characters and Hangul syllables: two columns and one UTF-16 unit each. */
const wide = /[\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]/g

/** The width of a text on a terminal in columns: two for CJK and emoji, none for colours. */
export function measureWidth(text: string): number {
  if (simple.test(text)) return text.length
  const narrow = text.replace(wide, '')
  return simple.test(narrow) ? text.length * 2 - narrow.length : loadStringWidth().default(text)
}

// Loading the Unicode tables takes longer than all the work of `ralph status`, and few texts need them.
const loadStringWidth = lazy((): typeof Exact => createRequire(import.meta.url)('string-width'))
const createSegmenter = lazy(() => new Intl.Segmenter(undefined, { granularity: 'grapheme' }))

const splitGraphemes = (text: string): Intl.Segments => createSegmenter().segment(text)

function* listGraphemes(text: string): Iterable<string> {
  for (const { segment } of splitGraphemes(text)) yield segment
}

const knownWidths = new Map<string, number>()

/** A text has few different graphemes, and to measure one takes microseconds. */
function measureGrapheme(grapheme: string): number {
  const known = knownWidths.get(grapheme)
  if (known !== undefined) return known
  const width = measureWidth(grapheme)
  if (knownWidths.size >= 10_000) knownWidths.clear()
  knownWidths.set(grapheme, width)
  return width
}

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

/** The most graphemes from the start of a plain text that fit a width. Reads no more of the text than that. */
function takeStart(text: string, width: number): string {
  const near = text.slice(0, width + 1)
  if (simple.test(near)) return text.slice(0, Math.max(0, width))
  // To split a text into graphemes takes longer than all the rest, and without marks each character is one.
  const isPlain = simple.test(near.replace(wide, ''))
  let end = 0
  let used = 0
  for (const segment of isPlain ? near : listGraphemes(text)) {
    used += measureGrapheme(segment)
    if (used > width) break
    end += segment.length
  }
  return text.slice(0, end)
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
  while (lines.length < maxLines - 1) {
    const whole = takeStart(rest, width)
    if (whole === rest) break
    const blank = whole.lastIndexOf(' ')
    const line = blank > width / 3 && rest[whole.length] !== ' ' ? whole.slice(0, blank) : whole
    lines.push(line.trimEnd())
    rest = rest.slice(line.length).trimStart()
  }
  return [...lines, takeStart(rest, width) === rest ? rest : `${takeStart(rest, width - 1)}…`]
}

// oxlint-disable-next-line no-control-regex -- a line in one colour, as paint.ts writes it
const inOneColor = /^((?:\u001b\[\d+m)*)([^\u001b]*)((?:\u001b\[\d+m)*)$/

/** Wraps a line in at most one colour; what continues it is indented by two. A line in more colours is truncated. */
export function wrapPainted(line: string, width: number, maxLines: number): string[] {
  const [, open = '', text, close = ''] = inOneColor.exec(line) ?? []
  if (text === undefined) return [fitPainted(line, width)]
  if (takeStart(text, width) === text) return [line]
  return wrapText(text, width - 2, maxLines).map((part, index) => `${open}${index === 0 ? '' : '  '}${part}${close}`)
}
