import { clipText } from '../../contract/text.ts'
import type { PagedHistory } from './read-history.ts'

/** The data of a report. */
export type ReportData = {
  readonly history: PagedHistory
  readonly madeAt: number
  /** By iteration; bounded. */
  readonly diffs: ReadonlyMap<number, string>
  /** By iteration, as lines; bounded. */
  readonly transcripts: ReadonlyMap<number, readonly string[]>
}

/** Keeps the first and the last lines of a text of any length. */
export function createBoundedLines(head: number, tail: number) {
  const first: string[] = []
  let last: string[] = []
  let left = 0
  return {
    add(line: string): void {
      const shown = clipText(line, maxLineLength)
      if (first.length < head) {
        first.push(shown)
        return
      }
      last.push(shown)
      // Drop lines in bulk: shifting a long list for each line would be slow.
      if (last.length < tail * 2) return
      left += last.length - tail
      last = last.slice(-tail)
    },
    lines(): string[] {
      const kept = last.slice(-tail)
      const gone = left + last.length - kept.length
      return [...first, ...(gone > 0 ? [`… ${gone} lines omitted …`] : []), ...kept]
    },
  }
}

const maxLineLength = 500

/** Truncates a patch to what a page can hold. */
export function truncatePatch(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const cut = text.lastIndexOf('\n', maxLength)
  const kept = text.slice(0, cut > 0 ? cut : maxLength)
  return `${kept}\n… ${text.length - kept.length} more characters; see: ralph diff`
}
