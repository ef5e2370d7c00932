import type { IterationRecord, Progress } from '../../../contract/progress.ts'

export type CheckGrid = {
  /** Iteration 0 is the run before the first iteration. */
  readonly columns: readonly number[]
  readonly rows: readonly {
    readonly name: string
    readonly marks: readonly (boolean | undefined)[]
    /** The first iteration after which it was green, and whether it has been red since. */
    readonly firstGreen?: number | undefined
    readonly regressed: boolean
  }[]
}

const maxColumns = 10

/** Checks by iteration: when each turned green, and which ones regressed. */
export function createCheckGrid(iterations: readonly IterationRecord[], progress: Progress): CheckGrid {
  const judged = listRuns(iterations, progress)
  const names = new Set([
    ...(progress.doneWhen ?? []).map(({ name, run }) => name ?? run),
    ...judged.flatMap(({ marks }) => marks.map(({ name }) => name)),
    ...(progress.review ? [`review (${progress.review.agent})`] : []),
  ])
  const shown = judged.slice(-maxColumns)
  const rows = [...names].map((name) => {
    const history = judged.map((record) => ({
      number: record.number,
      passed: record.marks.find((mark) => mark.name === name)?.passed,
    }))
    const firstGreen = history.find(({ passed }) => passed === true)?.number
    const last = history.findLast(({ passed }) => passed !== undefined)?.passed
    return {
      name,
      marks: history.slice(-maxColumns).map(({ passed }) => passed),
      firstGreen,
      regressed: firstGreen !== undefined && last === false,
    }
  })
  return { columns: shown.map(({ number }) => number), rows }
}

type CheckRun = { readonly number: number; readonly marks: readonly CheckMark[] }
type CheckMark = { readonly name: string; readonly passed: boolean }

/** Every run of the checks: at the start, after iterations, and in the iteration that runs. */
function listRuns(iterations: readonly IterationRecord[], { baseline = [], live }: Progress): CheckRun[] {
  const known = new Set(iterations.map(({ number }) => number))
  return [
    { number: 0, marks: baseline },
    ...iterations.map((record) => ({ number: record.number, marks: checkMarks(record) })),
    ...live
      .filter(({ number }) => !known.has(number))
      .map((each) => ({ number: each.number, marks: checkMarks(each) })),
  ].filter(({ marks }) => marks.length > 0)
}

function checkMarks({ checks = [], review }: Pick<IterationRecord, 'checks' | 'review'>): CheckMark[] {
  const named = checks.some(({ name }) => name.startsWith('review'))
  return review && !named ? [...checks, { name: 'review', passed: review.passed }] : [...checks]
}
