import type { Check } from '../../contract/check.ts'
import type { TestResult } from '../../contract/tests.ts'
import type { SourceChange, SourceText } from '../frozen/compose.ts'
import { codeLanguage, readEffect } from '../mutate/code-text.ts'
import { hollowCode } from '../mutate/hollow.ts'
import { identifyTests } from '../tests/identity.ts'
import type { Claim } from './open-proof.ts'
import type { JudgedCheck, Session } from './prove.ts'
import { runCheck, type CheckRun } from './run-check.ts'

/** A new or changed test that is red without the change. */
export type RedOnOldCode = {
  readonly tests: readonly string[]
  /** The new tests alone take about as long as the whole suite: the runner cannot choose. */
  readonly isCostly: boolean
  /** The test could not be loaded on the old code, or has no name: any change of an import does that. */
  readonly isWeak: boolean
}

/** Runs what is new in the tests on the code of the start; undefined: nothing of it is red there. */
export async function findRedOnOldCode(
  session: Session,
  now: readonly JudgedCheck[],
): Promise<RedOnOldCode | undefined> {
  const { claim } = session
  const tree = await claim.newOnOld()
  // The files are the same, so a test that was red and is green now is flaky.
  if (tree === claim.newOnNew || !(await hasEffect(claim))) return undefined
  const changedFiles = listChangedTests(claim)
  let weak: RedOnOldCode | undefined
  for (const judged of now) {
    const { check, record } = judged
    if (record.place === 'in-place' || check.heldOut !== undefined) continue
    const candidates = listCandidates(judged, changedFiles, claim)
    if (candidates ? candidates.length === 0 : changedFiles.size === 0) continue
    const red = await findTwiceRed(session, { check, tree, candidates }, judged.ended.durationMs)
    if (red && !red.isWeak) return red
    weak ??= red
  }
  return weak
}

type OldRun = {
  readonly check: Check
  readonly tree: string
  readonly candidates: readonly TestResult[] | undefined
}

/** Runs red tests once more where that is cheap: a flaky test proves nothing. */
async function findTwiceRed(session: Session, run: OldRun, suiteMs: number): Promise<RedOnOldCode | undefined> {
  const ended = await runOnly(session, run)
  const found = findRed(ended, run.candidates)
  const isCostly = suiteMs > longSuiteMs && ended.durationMs > 0.6 * suiteMs
  const first = found && { ...found, isCostly }
  if (!first || first.isWeak || isCostly) return first
  const expectedTests = new Set(first.tests)
  const candidates = run.candidates?.filter((test) => expectedTests.has(testId(test)))
  const again = findRed(await runOnly(session, { ...run, candidates }), candidates)
  return again?.isWeak === false ? { ...again, isCostly } : undefined
}

/** Below this duration, a few more runs are cheap with any runner. */
const longSuiteMs = 8000

function runOnly({ place, dependencies, signal }: Session, { check, tree, candidates }: OldRun): Promise<CheckRun> {
  const only = candidates && candidates.length <= maxNamed ? { only: candidates } : {}
  return runCheck(place, { check, tree, dependencies, signal, ...only })
}

/** Whether anything but comments and empty statements differs. Where no source differs, data or settings may. */
async function hasEffect({ readSources }: Claim): Promise<boolean> {
  const sources = await readSources()
  return (
    sources.length === 0 ||
    sources.some(({ path, before, after }) => readEffect(path, before) !== readEffect(path, after))
  )
}

export type HollowGrade = 'looks' | 'empty' | 'unknown'

/**
 * Runs the new tests on the claim, whose changed functions do nothing. `empty`: they still pass, so they never look at what the
 * change does. `unknown`: the change has no function that can be emptied.
 */
export async function gradeByHollowRun(session: Session, now: readonly JudgedCheck[]): Promise<HollowGrade> {
  const sources = await session.claim.readSources()
  const hollow = sources.flatMap(({ path, after }) => {
    const text = hollowCode(path, after)
    return text === undefined ? [] : [{ path, text }]
  })
  if (hollow.length === 0) return 'unknown'
  const all = await runHollow(session, now, hollow)
  if (all !== 'empty') return all
  // Emptying a helper of the tests would blind them.
  for (const file of hollow.length > 1 ? hollow.slice(0, 5) : [])
    if ((await runHollow(session, now, [file])) === 'looks') return 'looks'
  return sources.some((source) => isData(source) && !hollow.some(({ path }) => path === source.path))
    ? 'unknown'
    : 'empty'
}

/** A data table has no function to empty. Files at the top level are mostly texts and settings. */
const isData = ({ path, before, after }: SourceChange): boolean =>
  path.includes('/') &&
  (codeLanguage(path) !== undefined || /\.(?:json|ya?ml|toml|csv|sql|html|css|xml)$/.test(path)) &&
  readEffect(path, before) !== readEffect(path, after)

async function runHollow(
  session: Session,
  now: readonly JudgedCheck[],
  hollow: readonly SourceText[],
): Promise<HollowGrade> {
  const { claim } = session
  const tree = await claim.replaceIn(claim.newOnNew, hollow)
  const changedFiles = listChangedTests(claim)
  for (const judged of now) {
    const { check, record } = judged
    const candidates = listCandidates(judged, changedFiles, claim)
    if (record.place === 'in-place' || check.heldOut !== undefined || candidates?.length === 0) continue
    if (!candidates) return 'unknown'
    const { run, killed } = await runOnly(session, { check, tree, candidates })
    const passed = new Set((run?.tests ?? []).filter(({ status }) => status === 'passed').map(testId))
    if (killed !== undefined || candidates.some((test) => !passed.has(testId(test)))) return 'looks'
  }
  return 'empty'
}

const maxNamed = 100

const listChangedTests = ({ frozenChanges, releasedTests }: Claim): ReadonlySet<string> =>
  new Set([...frozenChanges.filter(({ kind }) => kind === 'test').map(({ path }) => path), ...releasedTests])

/** Tests of the claim that are new or stand in a changed file; undefined where tests have no names. */
function listCandidates(
  { ended, judged }: JudgedCheck,
  changedFiles: ReadonlySet<string>,
  { releasedTests }: Claim,
): TestResult[] | undefined {
  const { run } = ended
  if (!run) return undefined
  const passed = run.tests.filter(({ status }) => status === 'passed')
  const files = new Set(run.tests.map(({ file }) => file))
  // Any test may read what is not a test itself, as a snapshot.
  if ([...releasedTests].some((path) => !files.has(path))) return passed
  const added = new Set(judged.tests?.added)
  const isNew = new Set(
    identifyTests(run)
      .filter(({ id, file }) => added.has(id) || (file !== undefined && changedFiles.has(file)))
      .map(({ id }) => id),
  )
  return passed.filter((test) => isNew.has(testId(test)))
}

const testId = ({ file, name }: TestResult): string => (file === undefined ? name : `${file} > ${name}`)

function findRed(
  { run, exitCode, killed }: CheckRun,
  candidates: readonly TestResult[] | undefined,
): Omit<RedOnOldCode, 'isCostly'> | undefined {
  if (killed !== undefined) return undefined
  if (!candidates || !run) return exitCode === 0 ? undefined : { tests: [], isWeak: true }
  const candidateIds = new Set(candidates.map(testId))
  const files = new Set(candidates.map(({ file }) => file))
  const failed = run.tests.filter(({ status }) => status === 'failed')
  const red = failed.filter((test) => test.outside === undefined && candidateIds.has(testId(test))).map(testId)
  if (red.length > 0) return { tests: red, isWeak: false }
  const cannotLoad = failed.some(({ outside, file }) => outside && (file === undefined || files.has(file)))
  // What runs before them may fail without the change.
  const noneRan = exitCode !== 0 && !run.tests.some((test) => candidateIds.has(testId(test)))
  return cannotLoad || noneRan ? { tests: [], isWeak: true } : undefined
}
