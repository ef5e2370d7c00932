import type { TestResult } from '../../contract/tests.ts'
import { hollowCode } from '../mutate/hollow.ts'
import type { JudgedCheck, Session } from './prove.ts'
import { runCheck, type CheckRun } from './run-check.ts'

/** Files beyond this number are not emptied one by one. */
const maxFiles = 10
/** A few of the fixed tests say whether anything looks at the file. */
const maxNamed = 20

/** The time that such runs may always take. In a longer suite, those of a few tests together take a part of its time. */
const leastMs = 8000
const namedPart = 0.3
/** On a busy machine even a short suite takes seconds. */
const shortPart = 4
/** One run takes little more than that of all tests did. */
const fullPart = 2
const maxConfirmations = 3
/** Below this, a run of a few tests may take as long as that of all: starting the runner is most of it. */
const longSuiteMs = 20_000

/**
 * A changed file that made red tests green although it only judges others: with its functions of the start emptied, every test
 * still passes, and with its text of the start, the fixed tests are red. An assertion helper under any name is such a file; what
 * other code loads is the work, as a function that only had to stop throwing.
 */
export async function findChangedChecker(session: Session, old: readonly JudgedCheck[]): Promise<string | undefined> {
  const sources = (await session.claim.readSources()).flatMap(({ path, before }) => {
    const hollow = hollowCode(path, before)
    return hollow === undefined ? [] : [{ path, before, hollow }]
  })
  const smallestFirst = sources.toSorted((a, b) => a.before.length - b.before.length).slice(0, maxFiles)
  for (const judged of old.filter(({ record, check }) => record.place === 'room' && check.heldOut === undefined)) {
    const named = listFixed(judged)
    if (named.length === 0) continue
    const suiteMs = judged.ended.durationMs
    let leftMs = Math.max(leastMs, (suiteMs < leastMs ? shortPart : namedPart) * suiteMs)
    const timeoutMs = Math.max(leastMs, (suiteMs < longSuiteMs ? fullPart : namedPart) * suiteMs)
    const fullMs = Math.max(leastMs, fullPart * suiteMs)
    let confirmations = 0
    for (const { path, before, hollow } of smallestFirst) {
      if (leftMs <= 0 || confirmations === maxConfirmations) break
      const first = await runWith(session, judged, { path, text: hollow, only: named, timeoutMs })
      leftMs -= first.durationMs
      if (!allPass(first, named) || (await session.claim.isLoadedByCode(path))) continue
      // Few files come this far, so no limit of time lets one through.
      confirmations++
      const reverted = await runWith(session, judged, { path, text: before, only: named, timeoutMs })
      if (reverted.killed !== undefined || allPass(reverted, named)) continue
      const full = await runWith(session, judged, { path, text: hollow, timeoutMs: fullMs })
      if (allPass(full, listPassed(judged))) return path
    }
  }
  return undefined
}

type Change = {
  readonly path: string
  readonly text: string
  readonly only?: readonly TestResult[]
  readonly timeoutMs: number
}

async function runWith(session: Session, judged: JudgedCheck, change: Change): Promise<CheckRun> {
  const { place, dependencies, signal, claim } = session
  const { path, text, only, timeoutMs } = change
  const tree = await claim.replaceIn(claim.oldOnNew, [{ path, text }])
  const check = { ...judged.check, timeout: Math.min(timeoutMs, judged.check.timeout) }
  return runCheck(place, { check, tree, dependencies, signal, ...(only && { only }) })
}

const listPassed = ({ ended }: JudgedCheck): TestResult[] =>
  (ended.run?.tests ?? []).filter(({ status }) => status === 'passed')

function listFixed(judged: JudgedCheck): TestResult[] {
  const fixed = new Set(judged.judged.tests?.fixed)
  return listPassed(judged)
    .filter((test) => fixed.has(testId(test)) || fixed.has(test.name))
    .slice(0, maxNamed)
}

function allPass({ run, killed }: CheckRun, expected: readonly TestResult[]): boolean {
  if (killed !== undefined || !run || expected.length === 0) return false
  const passed = new Set(run.tests.filter(({ status }) => status === 'passed').map(testId))
  return run.tests.every(({ status }) => status !== 'failed') && expected.every((test) => passed.has(testId(test)))
}

const testId = ({ file, name }: TestResult): string => (file === undefined ? name : `${file} > ${name}`)
