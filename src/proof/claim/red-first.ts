import type { TestResult } from '../../contract/tests.ts'
import { identifyTests } from '../tests/identity.ts'
import type { JudgedCheck, Session } from './prove.ts'
import { runCheck, type CheckRun } from './run-check.ts'

/** A new or changed test that is red without the change. */
export type RedOnOldCode = {
  readonly tests: readonly string[]
  /** The test could not be loaded on the old code, or has no name: any change of an import does that. */
  readonly isWeak: boolean
}

/** Runs what is new in the tests on the code of the start; undefined: nothing of it is red there. */
export async function findRedOnOldCode(
  session: Session,
  now: readonly JudgedCheck[],
): Promise<RedOnOldCode | undefined> {
  const { claim, place, dependencies, signal } = session
  const changedFiles = new Set(claim.frozenChanges.filter(({ kind }) => kind === 'test').map(({ path }) => path))
  let weak: RedOnOldCode | undefined
  for (const judged of now) {
    const { check, record } = judged
    if (record.place === 'in-place' || check.heldOut !== undefined) continue
    const candidates = listCandidates(judged, changedFiles)
    if (candidates ? candidates.length === 0 : changedFiles.size === 0) continue
    const tree = await claim.newOnOld()
    const only = candidates && candidates.length <= mostNamed ? { only: candidates } : {}
    const ended = await runCheck(place, { check, tree, dependencies, signal, ...only })
    const red = findRed(ended, candidates)
    if (red && !red.isWeak) return red
    weak ??= red
  }
  return weak
}

const mostNamed = 100

/** Tests of the claim that are new or stand in a changed file; undefined where tests have no names. */
function listCandidates({ ended, judged }: JudgedCheck, changedFiles: ReadonlySet<string>): TestResult[] | undefined {
  const { run } = ended
  if (!run) return undefined
  const added = new Set(judged.tests?.added)
  const isNew = new Set(
    identifyTests(run)
      .filter(({ id, file }) => added.has(id) || (file !== undefined && changedFiles.has(file)))
      .map(({ id }) => id),
  )
  return run.tests.filter((test) => test.status === 'passed' && isNew.has(testId(test)))
}

const testId = ({ file, name }: TestResult): string => (file === undefined ? name : `${file} > ${name}`)

function findRed(
  { run, exitCode, killed }: CheckRun,
  candidates: readonly TestResult[] | undefined,
): RedOnOldCode | undefined {
  if (killed !== undefined) return undefined
  if (!candidates || !run) return exitCode === 0 ? undefined : { tests: [], isWeak: true }
  const wanted = new Set(candidates.map(testId))
  const files = new Set(candidates.map(({ file }) => file))
  const failed = run.tests.filter(({ status }) => status === 'failed')
  const red = failed.filter((test) => test.outside === undefined && wanted.has(testId(test))).map(testId)
  if (red.length > 0) return { tests: red, isWeak: false }
  const cannotLoad = failed.some(({ outside, file }) => outside && (file === undefined || files.has(file)))
  return cannotLoad ? { tests: [], isWeak: true } : undefined
}
