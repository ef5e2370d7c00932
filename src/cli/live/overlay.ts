import { stripControlSequences, type TerminalPaint } from '../io/paint.ts'
import { fitPainted, fitText, padTo, wrapPainted } from '../io/width.ts'
import type { ScreenSize } from './draw.ts'

/** A text to read, or a list whose entries open something. */
export type OverlayContent =
  | {
      readonly kind: 'text'
      readonly title: string
      readonly lines: readonly string[]
      /** Keys that do not move in it close it and act on the live view. */
      readonly isHelp?: true
    }
  | { readonly kind: 'list'; readonly title: string; readonly entries: readonly OverlayEntry[] }

export type OverlayEntry = {
  readonly text: string
  readonly open: () => Promise<OverlayContent>
  /** Shown beside the list while the entry is chosen, if the terminal is wide enough. */
  readonly preview?: readonly string[]
}

/** The content without what would control the terminal: it comes from agents and files. */
export const sanitizeOverlay = (content: OverlayContent): OverlayContent =>
  content.kind === 'text'
    ? { ...content, title: stripControlSequences(content.title), lines: content.lines.map(stripControlSequences) }
    : {
        ...content,
        entries: content.entries.map(({ text, preview, ...entry }) => ({
          ...entry,
          text: stripControlSequences(text),
          ...(preview && { preview: preview.map(stripControlSequences) }),
        })),
      }

/** One open overlay. `position`: the first line of a text, or the chosen entry of a list. */
export type OverlayLayer = {
  readonly content: OverlayContent
  readonly position: number
  readonly search?: string
  /** The user types a text to search for. */
  readonly typing?: string
}

const textHelp = '↑↓ scroll   space page   g G ends   / search   n next   Esc back   q close'
const narrowTextHelp = '↑↓ scroll   / search   Esc back   q close'
const listHelp = '↑↓ choose   Enter open   Esc back   q close'

/** How many lines of a text fit between title and help. */
const pageRows = ({ rows }: ScreenSize): number => Math.max(1, rows - 4)

/** Renders a layer as lines that fill the terminal and fit it. */
export function renderOverlay(shown: OverlayLayer, size: ScreenSize, paint: TerminalPaint): string[] {
  // A wider terminal has fewer rows of the same text.
  const layer = moveTo(shown, shown.position, size)
  const { content, position } = layer
  const rows = pageRows(size)
  const total = content.kind === 'text' ? wrapLines(content.lines, size).length : content.entries.length
  const where = total === 0 ? 'empty' : `${Math.min(position + 1, total)} of ${total}`
  const title = fitText(`${content.title}  (${where})`, size.columns)
  const body = content.kind === 'text' ? textBody(layer, rows, size, paint) : splitBody(layer, rows, size, paint)
  const blank = Array.from({ length: rows - body.length }, () => '')
  return [paint.bold(title), paint.dim('─'.repeat(size.columns)), ...body, ...blank, footLine(layer, size, paint)]
}

function footLine({ content, typing, search }: OverlayLayer, { columns }: ScreenSize, paint: TerminalPaint): string {
  if (typing !== undefined) return fitText(`search (Enter finds, Esc cancels): ${typing}▏`, columns)
  const found = search === undefined ? '' : `"${search}"   `
  const keys = textHelp.length + found.length <= columns ? textHelp : narrowTextHelp
  return paint.dim(fitText(`${found}${content.kind === 'text' ? keys : listHelp}`, columns))
}

function textBody(
  { content, position, search }: OverlayLayer,
  rows: number,
  size: ScreenSize,
  paint: TerminalPaint,
): string[] {
  const lines = content.kind === 'text' ? content.lines : []
  return wrapLines(lines, size)
    .slice(position, position + rows)
    .map(({ text, line }) => (search !== undefined && matches(lines[line] ?? '', search) ? paint.yellow(text) : text))
}

/** From this width on, a list has the preview of the chosen entry beside it. */
const previewWidth = 100

function splitBody(layer: OverlayLayer, rows: number, size: ScreenSize, paint: TerminalPaint): string[] {
  const preview = layer.content.kind === 'list' ? layer.content.entries[layer.position]?.preview : undefined
  if (preview === undefined || size.columns < previewWidth) return listBody(layer, rows, size, paint)
  const columns = Math.min(60, Math.floor(size.columns / 3))
  const list = listBody(layer, rows, { columns, rows: size.rows }, paint)
  const bar = paint.dim(' │ ')
  return Array.from(
    { length: rows },
    (_, row) => `${padTo(list[row] ?? '', columns)}${bar}${fitPainted(preview[row] ?? '', size.columns - columns - 3)}`,
  )
}

function listBody(
  { content, position }: OverlayLayer,
  rows: number,
  { columns }: ScreenSize,
  paint: TerminalPaint,
): string[] {
  const entries = content.kind === 'list' ? content.entries : []
  const top = Math.max(0, Math.min(position - Math.floor(rows / 2), entries.length - rows))
  return entries.slice(top, top + rows).map(({ text }, index) => {
    const isChosen = top + index === position
    const line = fitText(`${isChosen ? '›' : ' '} ${text}`, columns)
    return isChosen ? paint.cyan(padTo(line, columns)) : line
  })
}

/** A row on the screen, and the line of the text that it is from. */
type WrappedRow = { readonly text: string; readonly line: number }

/** A longer line, such as a minified file, ends with an ellipsis. */
const maxRowsPerLine = 50

/** The rows of each open text: every key and every redraw needs them, in the process that runs the sprint. */
const wrapped = new WeakMap<readonly string[], { readonly columns: number; readonly rows: readonly WrappedRow[] }>()

/** Long lines continue on the next row, indented, so that a narrow terminal hides nothing. */
export function wrapLines(lines: readonly string[], { columns }: Pick<ScreenSize, 'columns'>): readonly WrappedRow[] {
  const known = wrapped.get(lines)
  if (known?.columns === columns) return known.rows
  const rows = lines.flatMap((text, line) =>
    wrapPainted(text.replaceAll('\t', '    '), columns, maxRowsPerLine).map((part) => ({ text: part, line })),
  )
  wrapped.set(lines, { columns, rows })
  return rows
}

const matches = (line: string, search: string): boolean => line.toLowerCase().includes(search.toLowerCase())

/** What a key does to a layer. */
export type OverlayStep =
  | { readonly do: 'pass' }
  | { readonly do: 'show'; readonly layer: OverlayLayer }
  | { readonly do: 'open'; readonly entry: OverlayEntry }
  | { readonly do: 'back' }
  | { readonly do: 'close' }

/** Applies a key to a layer. Pure: the caller opens entries and draws. */
export function pressOverlayKey(layer: OverlayLayer, key: string, size: ScreenSize): OverlayStep {
  if (layer.typing !== undefined) return typeSearch(layer, layer.typing, key, size)
  const { content } = layer
  if (key === 'q') return { do: 'close' }
  if (key === '\u001b' || key === '\u001b[D' || key === 'h' || key === '\u007f') return { do: 'back' }
  if (content.kind === 'list' && (key === '\r' || key === '\n' || key === '\u001b[C' || key === 'l')) {
    const entry = content.entries[layer.position]
    return entry ? { do: 'open', entry } : { do: 'show', layer }
  }
  if (content.kind === 'text' && key === '/') return { do: 'show', layer: { ...layer, typing: '' } }
  if (content.kind === 'text' && key === 'n' && layer.search !== undefined)
    return { do: 'show', layer: findNext(layer, layer.search, { size, isAgain: true }) }
  const by = moves(pageRows(size))[key]
  if (by === undefined && content.kind === 'text' && content.isHelp) return { do: 'pass' }
  return {
    do: 'show',
    layer: by === undefined ? layer : moveTo(layer, moveTo(layer, layer.position, size).position + by, size),
  }
}

/** Keys that move, and by how much. */
const moves = (page: number): Readonly<Record<string, number>> => ({
  '\u001b[A': -1,
  k: -1,
  '\u001b[B': 1,
  j: 1,
  '\u001b[5~': -page,
  b: -page,
  '\u001b[6~': page,
  ' ': page,
  g: -Infinity,
  '\u001b[H': -Infinity,
  G: Infinity,
  '\u001b[F': Infinity,
})

function moveTo(layer: OverlayLayer, position: number, size: ScreenSize): OverlayLayer {
  const { content } = layer
  const last =
    content.kind === 'text' ? wrapLines(content.lines, size).length - pageRows(size) : content.entries.length - 1
  return { ...layer, position: Math.max(0, Math.min(position, last)) }
}

function typeSearch(
  { typing: _typing, ...layer }: OverlayLayer,
  text: string,
  key: string,
  size: ScreenSize,
): OverlayStep {
  if (key === '\u001b') return { do: 'show', layer }
  if (key === '\r' || key === '\n') {
    const found = text === '' ? layer : findNext({ ...layer, search: text }, text, { size, isAgain: false })
    return { do: 'show', layer: found }
  }
  const next = key === '\u007f' || key === '\b' ? text.slice(0, -1) : text + (key >= ' ' ? key : '')
  return { do: 'show', layer: { ...layer, typing: next } }
}

type SearchOptions = { readonly size: ScreenSize; readonly isAgain: boolean }

/** The next line that contains the text, from the first visible one (again: the one after it) and then from the top. */
function findNext(layer: OverlayLayer, search: string, { size, isAgain }: SearchOptions): OverlayLayer {
  const lines = layer.content.kind === 'text' ? layer.content.lines : []
  const rows = wrapLines(lines, size)
  const from = (rows[layer.position]?.line ?? 0) + (isAgain ? 1 : 0)
  const after = lines.findIndex((line, index) => index >= from && matches(line, search))
  const found = after === -1 ? lines.findIndex((line) => matches(line, search)) : after
  return found === -1 ? layer : { ...layer, position: rows.findIndex(({ line }) => line === found) }
}
