import type { IterationRecord, Progress } from '../../../contract/progress.ts'

export type CheckGrid = {
  readonly columns: readonly number[]
  readonly rows: readonly {
    readonly name: string
    readonly marks: readonly (boolean | undefined)[]
    /** The first iteration after which it was green, and whether it has been red since. */
    readonly firstGreen?: number | undefined
    readonly regressed: boolean
  }[]
}

const mostColumns = 10

/** Checks by iteration: when each turned green, and which ones regressed. */
export function createCheckGrid(iterations: readonly IterationRecord[], progress: Progress): CheckGrid {
  const judged = iterations.filter(({ checks, review }) => (checks?.length ?? 0) > 0 || review !== undefined)
  const names = new Set([
    ...(progress.doneWhen ?? []).map(({ name, run }) => name ?? run),
    ...judged.flatMap((record) => checkMarks(record).map(({ name }) => name)),
    ...(progress.review ? [`review (${progress.review.agent})`] : []),
  ])
  const shown = judged.slice(-mostColumns)
  const rows = [...names].map((name) => {
    const history = judged.map((record) => ({
      number: record.number,
      passed: checkMarks(record).find((mark) => mark.name === name)?.passed,
    }))
    const firstGreen = history.find(({ passed }) => passed === true)?.number
    const last = history.findLast(({ passed }) => passed !== undefined)?.passed
    return {
      name,
      marks: history.slice(-mostColumns).map(({ passed }) => passed),
      firstGreen,
      regressed: firstGreen !== undefined && last === false,
    }
  })
  return { columns: shown.map(({ number }) => number), rows }
}

function checkMarks({ checks = [], review }: IterationRecord): { readonly name: string; readonly passed: boolean }[] {
  const named = checks.some(({ name }) => name.startsWith('review'))
  return review && !named ? [...checks, { name: 'review', passed: review.passed }] : [...checks]
}
