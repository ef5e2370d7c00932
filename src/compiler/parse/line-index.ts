import type { Diagnostic, Source } from './diagnostics.ts'

/** Longer lines are not quoted. */
const quotedLine = 2000

export type SourceSpot = Pick<Diagnostic, 'place' | 'sourceLine'>

/** Converts offsets in a text to lines and columns, which start at 1. */
export function createLineIndex({ file, text }: Source) {
  let starts: number[] | undefined
  return {
    at(offset: number): SourceSpot {
      starts ??= lineStarts(text)
      let low = 0
      let high = starts.length - 1
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if ((starts[middle] ?? 0) <= offset) low = middle
        else high = middle - 1
      }
      const start = starts[low] ?? 0
      const end = text.indexOf('\n', start)
      const place = { file, line: low + 1, column: offset - start + 1 }
      const sourceLine = text.slice(start, end === -1 ? text.length : end).replace(/\r$/, '')
      return sourceLine.length > quotedLine ? { place } : { place, sourceLine }
    },
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
