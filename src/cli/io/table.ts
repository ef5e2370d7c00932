import { fitText, padTo, measureWidth } from './width.ts'
import { toOneLine } from '../../words/text.ts'
import type { TerminalPaint } from './paint.ts'

export type TableColumn = {
  readonly title: string
  readonly align?: 'right'
  /** Dropped on a narrow terminal; the highest number goes first. */
  readonly drop?: number
}

type TableLook = { readonly width: number; readonly paint: TerminalPaint }

const gap = '  '
/** The minimum width of the last column. */
const minLastColumnWidth = 12

/** Formats rows under their titles, none wider than the terminal. The last column takes the remaining width. */
export function tableLines(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  look: TableLook,
): string[] {
  const cells = rows.map((row) => row.map((cell) => toOneLine(cell)))
  const kept = selectColumns(columns, cells, look.width)
  const widths = kept.map((index) => widthAt(columns, cells, index))
  const line = (texts: readonly string[]) =>
    kept
      .map((index, place) => {
        const text = texts[index] ?? ''
        const width = widths[place] ?? 0
        if (place === kept.length - 1)
          return fitText(text, look.width - sumWidths(widths.slice(0, -1)) - gap.length * place)
        return columns[index]?.align === 'right' ? ' '.repeat(width - measureWidth(text)) + text : padTo(text, width)
      })
      .join(gap)
      .trimEnd()
  return [look.paint.dim(line(columns.map(({ title }) => title))), ...cells.map((row) => line(row))]
}

const widthAt = (columns: readonly TableColumn[], cells: readonly (readonly string[])[], index: number): number =>
  Math.max(measureWidth(columns[index]?.title ?? ''), ...cells.map((row) => measureWidth(row[index] ?? '')))

const sumWidths = (numbers: readonly number[]): number => numbers.reduce((so, number) => so + number, 0)

/** Selects the columns that fit. */
function selectColumns(
  columns: readonly TableColumn[],
  cells: readonly (readonly string[])[],
  width: number,
): number[] {
  const order = columns
    .map(({ drop = 0 }, index) => ({ drop, index }))
    .filter(({ drop }) => drop > 0)
    .toSorted((a, b) => b.drop - a.drop)
  let kept = columns.map((_, index) => index)
  for (const { index } of order) {
    const fixed = kept.slice(0, -1).map((at) => widthAt(columns, cells, at) + gap.length)
    if (sumWidths(fixed) + minLastColumnWidth <= width) break
    kept = kept.filter((at) => at !== index)
  }
  return kept
}
