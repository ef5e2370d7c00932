import { fit, padTo, widthOf } from './width.ts'
import { oneLine, type Paint } from './paint.ts'

export type Column = {
  readonly title: string
  readonly align?: 'right'
  /** Dropped on a narrow terminal; the highest number goes first. */
  readonly drop?: number
}

type Look = { readonly width: number; readonly paint: Paint }

const gap = '  '
/** The minimum width of the last column. */
const leastRest = 12

/** Formats rows under their titles, none wider than the terminal. The last column takes the remaining width. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[], look: Look): string[] {
  const cells = rows.map((row) => row.map((cell) => oneLine(cell)))
  const kept = columnsFor(columns, cells, look.width)
  const widths = kept.map((index) => widthAt(columns, cells, index))
  const line = (texts: readonly string[]) =>
    kept
      .map((index, place) => {
        const text = texts[index] ?? ''
        const width = widths[place] ?? 0
        if (place === kept.length - 1) return fit(text, look.width - sum(widths.slice(0, -1)) - gap.length * place)
        return columns[index]?.align === 'right' ? ' '.repeat(width - widthOf(text)) + text : padTo(text, width)
      })
      .join(gap)
      .trimEnd()
  return [look.paint.dim(line(columns.map(({ title }) => title))), ...cells.map((row) => line(row))]
}

const widthAt = (columns: readonly Column[], cells: readonly (readonly string[])[], index: number): number =>
  Math.max(widthOf(columns[index]?.title ?? ''), ...cells.map((row) => widthOf(row[index] ?? '')))

const sum = (numbers: readonly number[]): number => numbers.reduce((so, number) => so + number, 0)

/** Selects the columns that fit. */
function columnsFor(columns: readonly Column[], cells: readonly (readonly string[])[], width: number): number[] {
  const order = columns
    .map(({ drop = 0 }, index) => ({ drop, index }))
    .filter(({ drop }) => drop > 0)
    .toSorted((a, b) => b.drop - a.drop)
  let kept = columns.map((_, index) => index)
  for (const { index } of order) {
    const fixed = kept.slice(0, -1).map((at) => widthAt(columns, cells, at) + gap.length)
    if (sum(fixed) + leastRest <= width) break
    kept = kept.filter((at) => at !== index)
  }
  return kept
}
