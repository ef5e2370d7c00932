import type { TestComparison, TestRun } from '../../contract/tests.ts'
import { identifyTests, type IdentifiedTest, type IdentityOptions } from './identity.ts'

export type CompareOptions = {
  /** The red tests of `now`, run once more. */
  readonly rerun?: TestRun
  /** From `findVolatileNames`. */
  readonly volatile?: ReadonlySet<string>
}

/** What has become of the tests of the baseline. A run that left no names, `undefined`, has none of them. */
export function compareRuns(
  baseline: TestRun,
  latest: TestRun | undefined,
  { rerun, volatile }: CompareOptions = {},
): TestComparison {
  const now = isPrinted(baseline, latest) ? undefined : latest
  const options: IdentityOptions = {
    withoutFile: namesWithoutFile(baseline, now, rerun),
    ...(volatile && { volatile }),
  }
  const before = indexTests(baseline, options)
  const after = indexTests(now, options)
  const again = indexTests(rerun, options)
  const lists = emptyLists()
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const isFlaky = after.get(id)?.status === 'failed' && hasRecovered(after.get(id), again.get(id), rerun)
    const list = isFlaky ? 'flaky' : chooseList(before.get(id), after.get(id) ?? vanishedError(before.get(id), after))
    if (list) lists[list].push(id)
  }
  return { ...lists, passedBefore: countPassed(before), passedNow: countPassed(after) }
}

/** Any program can print names. Where a reporter worked at the baseline, they have to come from it again. */
const isPrinted = (baseline: TestRun, latest: TestRun | undefined): boolean =>
  latest?.source === 'output' && baseline.source !== 'output'

type ListName = Exclude<keyof TestComparison, 'passedBefore' | 'passedNow'>

/** An error outside of tests has recovered when it does not come back. */
const hasRecovered = (
  red: IdentifiedTest | undefined,
  again: IdentifiedTest | undefined,
  rerun: TestRun | undefined,
): boolean => again?.status === 'passed' || (red?.outside === true && again === undefined && rerun?.complete === true)

/** Undefined where nothing has changed, or where nothing is proved either way. */
function chooseList(before: IdentifiedTest | undefined, after: IdentifiedTest | undefined): ListName | undefined {
  const now = after?.status
  if (before?.outside && now === undefined && before.file === undefined) return undefined
  if (now === 'failed') return before?.status === 'failed' ? 'stillRed' : 'newlyRed'
  switch (before?.status) {
    case undefined:
    case 'skipped':
    case 'todo':
    case 'disabled':
      return now === 'passed' ? 'added' : undefined
    case 'passed':
      return now === 'passed' ? undefined : 'missing'
    case 'failed':
      return now === 'passed' ? 'fixed' : 'missing'
    // Red by declaration: it is fixed whether or not the mark is still there.
    case 'expected-failure':
      if (now === 'passed' || now === 'unexpected-pass') return 'fixed'
      return now === undefined ? 'missing' : undefined
    case 'unexpected-pass':
      return now === undefined ? 'missing' : undefined
  }
}

/**
 * An error outside of tests has no name to come back with. It is fixed if tests of its file pass now; where the file is
 * unknown or has no test, it proves nothing.
 */
function vanishedError(before: IdentifiedTest | undefined, after: ReadonlyMap<string, IdentifiedTest>) {
  if (!before?.outside || before.file === undefined) return undefined
  return [...after.values()].find(({ file, status }) => file === before.file && status === 'passed')
}

const emptyLists = (): Record<ListName, string[]> => ({
  fixed: [],
  stillRed: [],
  added: [],
  missing: [],
  newlyRed: [],
  flaky: [],
})

function indexTests(run: TestRun | undefined, options: IdentityOptions): Map<string, IdentifiedTest> {
  return new Map((run ? identifyTests(run, options) : []).map((test) => [test.id, test]))
}

/** A name that one of the runs has without a file is compared without it everywhere. */
function namesWithoutFile(...runs: readonly (TestRun | undefined)[]): ReadonlySet<string> {
  const tests = runs.flatMap((run) => run?.tests ?? [])
  return new Set(tests.filter(({ file }) => file === undefined).map(({ name }) => name))
}

const countPassed = (tests: ReadonlyMap<string, IdentifiedTest>): number =>
  [...tests.values()].filter(({ status }) => status === 'passed').length
