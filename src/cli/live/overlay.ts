import type { TerminalPaint } from '../io/paint.ts'
import { fitPainted, fitText, padTo, wrapText } from '../io/width.ts'
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

/** One open overlay. `position`: the first line of a text, or the chosen entry of a list. */
export type OverlayLayer = {
  readonly content: OverlayContent
  readonly position: number
  readonly search?: string
  /** The user types a text to search for. */
  readonly typing?: string
}

const textHelp = '↑↓ scroll   space page   g G ends   / search   n next   Esc back   q close'
const listHelp = '↑↓ choose   Enter open   Esc back   q close'

/** How many lines of a text fit between title and help. */
const pageRows = ({ rows }: ScreenSize): number => Math.max(1, rows - 4)

/** Renders a layer as lines that fill the terminal and fit it. */
export function renderOverlay(layer: OverlayLayer, size: ScreenSize, paint: TerminalPaint): string[] {
  const { content, position } = layer
  const rows = pageRows(size)
  const total = content.kind === 'text' ? content.lines.length : content.entries.length
  const where = total === 0 ? 'empty' : `${Math.min(position + 1, total)} of ${total}`
  const title = fitText(`${content.title}  (${where})`, size.columns)
  const body = content.kind === 'text' ? textBody(layer, rows, size, paint) : splitBody(layer, rows, size, paint)
  const blank = Array.from({ length: rows - body.length }, () => '')
  return [paint.bold(title), paint.dim('─'.repeat(size.columns)), ...body, ...blank, footLine(layer, size, paint)]
}

function footLine({ content, typing, search }: OverlayLayer, { columns }: ScreenSize, paint: TerminalPaint): string {
  if (typing !== undefined) return fitText(`search (Enter finds, Esc cancels): ${typing}▏`, columns)
  const found = search === undefined ? '' : `"${search}"   `
  return paint.dim(fitText(`${found}${content.kind === 'text' ? textHelp : listHelp}`, columns))
}

function textBody(
  { content, position, search }: OverlayLayer,
  rows: number,
  { columns }: ScreenSize,
  paint: TerminalPaint,
): string[] {
  const lines = content.kind === 'text' ? (content.isHelp ? wrapLines(content.lines, columns) : content.lines) : []
  return lines.slice(position, position + rows).map((line) => {
    const shown = fitPainted(line, columns)
    return search !== undefined && matches(line, search) ? paint.yellow(shown) : shown
  })
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

/** The help must be readable in full on a narrow terminal. */
const wrapLines = (lines: readonly string[], columns: number): string[] =>
  lines.flatMap((line) => wrapText(line, columns - 2, 9).map((part, index) => (index === 0 ? part : `  ${part}`)))

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
  if (layer.typing !== undefined) return typeSearch(layer, layer.typing, key)
  const { content } = layer
  if (key === 'q') return { do: 'close' }
  if (key === '\u001b' || key === '\u001b[D' || key === 'h' || key === '\u007f') return { do: 'back' }
  if (content.kind === 'list' && (key === '\r' || key === '\n' || key === '\u001b[C' || key === 'l')) {
    const entry = content.entries[layer.position]
    return entry ? { do: 'open', entry } : { do: 'show', layer }
  }
  if (content.kind === 'text' && key === '/') return { do: 'show', layer: { ...layer, typing: '' } }
  if (content.kind === 'text' && key === 'n' && layer.search !== undefined)
    return { do: 'show', layer: findNext(layer, layer.search, layer.position + 1) }
  const by = moves(pageRows(size))[key]
  if (by === undefined && content.kind === 'text' && content.isHelp) return { do: 'pass' }
  return { do: 'show', layer: by === undefined ? layer : moveTo(layer, layer.position + by, size) }
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
  const last = content.kind === 'text' ? content.lines.length - pageRows(size) : content.entries.length - 1
  return { ...layer, position: Math.max(0, Math.min(position, last)) }
}

function typeSearch({ typing: _typing, ...layer }: OverlayLayer, text: string, key: string): OverlayStep {
  if (key === '\u001b') return { do: 'show', layer }
  if (key === '\r' || key === '\n')
    return { do: 'show', layer: text === '' ? layer : findNext({ ...layer, search: text }, text, layer.position) }
  const next = key === '\u007f' || key === '\b' ? text.slice(0, -1) : text + (key >= ' ' ? key : '')
  return { do: 'show', layer: { ...layer, typing: next } }
}

/** The next line that contains the text, from there on and then from the top. */
function findNext(layer: OverlayLayer, search: string, from: number): OverlayLayer {
  const lines = layer.content.kind === 'text' ? layer.content.lines : []
  const after = lines.findIndex((line, index) => index >= from && matches(line, search))
  const found = after === -1 ? lines.findIndex((line) => matches(line, search)) : after
  return found === -1 ? layer : { ...layer, position: found }
}
