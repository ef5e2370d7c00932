import type { TestComparison, TestRun } from '../../contract/tests.ts'

/** Why a check is red; undefined: it is green. The exit code alone is never enough where tests have names. */
export function findRunProblem(run: TestRun, exitCode: number | null): string | undefined {
  const red = run.tests.filter(({ status }) => status === 'failed')
  if (!run.complete && (exitCode === 0 || red.length === 0)) return 'the runner was stopped before it finished'
  if (exitCode === 0 && red.length > 0)
    return `the command ended with 0, but its report names ${count(red.length, 'red test')}`
  if (red.length > 0) return count(red.length, 'red test')
  if (exitCode !== 0) return `the command ended with ${exitCode ?? 'a signal'}, but its report names no red test`
  return run.tests.some(({ status }) => status === 'passed') ? undefined : 'no test ran'
}

/** Why the tests of a claim are not those of the baseline, green; undefined: all of them are there and pass. */
export function findLoss({ missing, newlyRed, passedBefore, passedNow }: TestComparison): string | undefined {
  if (missing.length > 0) return `${count(missing.length, 'test')} of the baseline missing`
  if (newlyRed.length > 0) return `${count(newlyRed.length, 'test')} newly red`
  return passedNow < passedBefore ? `${passedNow} tests passed, ${passedBefore} at the baseline` : undefined
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
