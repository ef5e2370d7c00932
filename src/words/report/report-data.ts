import { clipText } from '../../contract/text.ts'
import type { HookTask, IterationRecord, Progress, Step } from '../../contract/progress.ts'

/** A wait for a usage limit. */
export type UsageLimitWait = { readonly from: number; readonly until: number; readonly reason: string }

/** Everything that was ever in the progress of a sprint, including what PROGRESS.yaml has dropped. */
export type SprintHistory = {
  readonly progress: Progress
  readonly iterations: readonly IterationRecord[]
  readonly steps: readonly Step[]
  readonly hookTasks: readonly HookTask[]
  readonly waits: readonly UsageLimitWait[]
}

/** `earlier`: the first iteration of the page, if there are iterations before it. */
export type PagedHistory = SprintHistory & { readonly earlier?: number | undefined }

/** Keeps the page below 3 MB and fast to open, whatever the length of the sprint. */
export const reportBounds = {
  diff: 60_000,
  allDiffs: 1_000_000,
  allTranscripts: 1_200_000,
  headLines: 150,
  tailLines: 250,
  iterations: 200,
}

/** The data of a report. */
export type ReportData = {
  readonly history: PagedHistory
  readonly madeAt: number
  /** By iteration; bounded. */
  readonly diffs: ReadonlyMap<number, string>
  /** By iteration, as lines; bounded. */
  readonly transcripts: ReadonlyMap<number, readonly string[]>
  /** What the checks of each iteration printed, as lines; bounded. */
  readonly checkOutputs: ReadonlyMap<number, readonly string[]>
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
