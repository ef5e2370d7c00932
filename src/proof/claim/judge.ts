import type { TestComparison, TestResult, TestRun } from '../../contract/tests.ts'
import { ranNoTests } from '../../runtime/empty-test-run.ts'
import { globMatcher } from '../frozen/glob.ts'
import { compareRuns } from '../tests/compare-runs.ts'
import { identifyTests } from '../tests/identity.ts'
import { findRunProblem } from '../tests/judge-run.ts'
import type { CheckRecord } from './record.ts'
import type { CheckRun } from './run-check.ts'

/** One run of a check, compared with its baseline. */
export type Judgement = {
  /** Why it is red; undefined: green, and no test of the baseline is lost. */
  readonly problem?: string
  /** Absent where tests have no names. */
  readonly tests?: TestComparison
  /** Red tests that can be run again by name. */
  readonly red: readonly TestResult[]
}

export type JudgeOptions = {
  /** The red tests, run once more. */
  readonly rerun?: TestRun | undefined
  /** Globs of tests that the agent may change. */
  readonly mayChange: readonly string[]
}

export function judgeRun(record: CheckRecord, ended: CheckRun, options: JudgeOptions): Judgement {
  const { run, exitCode, killed, output } = ended
  const red = (run?.tests ?? []).filter(({ status }) => status === 'failed')
  if (killed !== undefined) return { problem: killed, red: [] }
  const before = record.run ?? (run && { ...run, complete: true, tests: [] })
  if (!before) {
    const problem = exitCode !== 0 ? `exit code ${exitCode}` : ranNoTests(output) ? noTest : undefined
    return { red: [], ...(problem !== undefined && { problem }) }
  }
  const { rerun, mayChange } = options
  const volatile = new Set(record.volatile)
  const compared = compareRuns(before, run, { volatile, ...(rerun && { rerun }) })
  const unsteady = new Set(record.flaky)
  const fixed = compared.fixed.filter((id) => !unsteady.has(id))
  const tests = { ...compared, fixed, missing: withoutReleased(compared, before, mayChange) }
  const problem = findProblem(run, exitCode) ?? findLost(compared, tests)
  return { tests, red, ...(problem !== undefined && { problem }) }
}

const noTest = 'it ran no test'

function findProblem(run: TestRun | undefined, exitCode: number | null): string | undefined {
  if (!run) return exitCode === 0 ? noTest : `exit code ${exitCode}`
  const problem = findRunProblem(run, exitCode)
  return problem === 'no test ran' ? noTest : problem
}

/** A red run whose red tests all passed when they were run again. */
export const isFlaky = ({ tests }: Judgement): boolean =>
  tests !== undefined && tests.flaky.length > 0 && tests.stillRed.length + tests.newlyRed.length === 0

function findLost(all: TestComparison, { missing }: TestComparison): string | undefined {
  if (missing.length > 0) return `${missing.length} ${missing.length === 1 ? 'test' : 'tests'} of the baseline missing`
  if (all.missing.length > 0 || all.passedNow >= all.passedBefore) return undefined
  return `${all.passedNow} tests passed, ${all.passedBefore} at the baseline`
}

/** Missing tests, without those in files that the agent may change and those that moved to another file. */
function withoutReleased(
  { missing, added }: TestComparison,
  baseline: TestRun,
  mayChange: readonly string[],
): TestComparison['missing'] {
  if (missing.length === 0) return missing
  const isReleased = globMatcher(mayChange)
  const files = new Map(identifyTests(baseline).map(({ id, file }) => [id, file]))
  return missing.filter((id) => {
    const file = files.get(id)
    if (file !== undefined && isReleased(file)) return false
    const name = bareName(id, file)
    // TAP runners often append the failure to the name of a red test.
    const isSame = (other: string) => other === name || other.endsWith(` > ${name}`) || name.startsWith(`${other}: `)
    return !added.some(isSame)
  })
}

const bareName = (id: string, file: string | undefined): string =>
  file !== undefined && id.startsWith(`${file} > `) ? id.slice(file.length + 3) : id

/**
 * Compares a run before the agent with a run of the same files in the room, without the tests that flip on the same files.
 * Returns one sentence if they differ.
 */
export function findDifference(
  inPlace: CheckRun,
  inRoom: CheckRun,
  flaky: ReadonlySet<string> = new Set(),
): string | undefined {
  const codes = [inPlace, inRoom].map(({ exitCode, killed }) => killed ?? `exit code ${exitCode}`)
  if (codes[0] !== codes[1] && !isSteadySame(inPlace, inRoom, flaky))
    return `${codes[0]} in the work tree, ${codes[1]} in the room`
  if (!inPlace.run) return undefined
  if (!inRoom.run) return `${inPlace.run.tests.length} tests run in the work tree, none in the room`
  const counts = [inPlace.run, inRoom.run].map((run) => listPassed(run, flaky).length)
  if (counts[0] !== counts[1]) return `${counts[0]} tests pass in the work tree, ${counts[1]} in the room`
  const named = [inPlace.run, inRoom.run].map(({ tests }) => tests.filter(({ outside }) => outside !== true).length)
  return named[0] === named[1] ? undefined : `${named[0]} tests run in the work tree, ${named[1]} in the room`
}

/** The room lacks nothing: all tests of the work tree are there, and more of them pass, or it opens the network and is green. */
export function isRicher({ run: before, exitCode }: CheckRun, inRoom: CheckRun, isOpen: boolean): boolean {
  const { run: after } = inRoom
  if (!before || !after) return isOpen && exitCode !== 0 && inRoom.exitCode === 0
  const now = new Map(identifyTests(after).map(({ id, status }) => [id, status]))
  const tests = identifyTests(before).filter(({ outside }) => outside !== true)
  const isKept = tests.every(({ id, status }) => now.has(id) && (status !== 'passed' || now.get(id) === 'passed'))
  const none: ReadonlySet<string> = new Set()
  return isKept && after.complete && listPassed(after, none).length > listPassed(before, none).length
}

/** Exit codes may differ where a test flips and all others agree. */
const isSteadySame = ({ run: before }: CheckRun, { run: after }: CheckRun, flaky: ReadonlySet<string>): boolean =>
  flaky.size > 0 &&
  before?.complete === true &&
  after?.complete === true &&
  listPassed(before, flaky).join('\n') === listPassed(after, flaky).join('\n')

const listPassed = (run: TestRun, flaky: ReadonlySet<string>): string[] =>
  identifyTests(run)
    .filter(({ status, id }) => status === 'passed' && !flaky.has(id))
    .map(({ id }) => id)
    .toSorted()

/** Tests that pass in one of two runs of the same files and fail in the other. */
export function findFlips(first: CheckRun, second: CheckRun): string[] {
  if (!first.run || !second.run) return []
  const before = new Map(identifyTests(first.run).map(({ id, status }) => [id, status]))
  return identifyTests(second.run)
    .filter(({ id, status }) => isFlip(before.get(id), status))
    .map(({ id }) => id)
}

const isFlip = (first: string | undefined, second: string): boolean =>
  (first === 'passed' && second === 'failed') || (first === 'failed' && second === 'passed')
