import type { IterationRecord, Progress } from '../contract/progress.ts'
import { pluralize } from './counts.ts'

/** One thing that a claim must stand. `absent`: it did not apply, or Ralph did not get that far. */
export type ProofStep = {
  readonly title: string
  readonly state: 'passed' | 'failed' | 'absent'
  readonly words: string
  /** Tests or files by name. */
  readonly names: readonly string[]
}

type ProofSettings = Pick<Progress, 'doneWhen' | 'seal'>

/** How a claim was measured, step by step; empty if there was no proof. */
export function describeProofSteps(record: IterationRecord, settings: ProofSettings): readonly ProofStep[] {
  if (!record.proof) return []
  return [
    oldTests(record.proof),
    newTests(record.proof),
    redFirst(record.proof),
    heldOut(record, settings),
    sealStep(record.proof, settings),
    frozenFiles(record),
  ]
}

type Mark = NonNullable<IterationRecord['proof']>

function oldTests({ verdict, tests }: Mark): ProofStep {
  const title = 'Tests of the start, on the new code'
  if (!tests) return { title, state: 'absent', words: 'no check names its tests', names: [] }
  const { missing, stillRed } = tests
  if (missing.length + stillRed.length > 0) {
    const words = [
      ...(missing.length > 0 ? [`${missing.length} missing, skipped or not run`] : []),
      ...(stillRed.length > 0 ? [`${stillRed.length} red`] : []),
    ].join(', ')
    return { title, state: 'failed', words, names: [...missing, ...stillRed] }
  }
  if (verdict === 'refused' || verdict === 'contested') return { title, state: 'failed', words: 'red', names: [] }
  return { title, state: 'passed', words: 'all there, all green', names: [] }
}

function newTests({ tests }: Mark): ProofStep {
  const names = tests?.added ?? []
  if (names.length === 0) return { title: 'New tests', state: 'absent', words: 'none', names }
  return { title: 'New tests', state: 'passed', words: `${pluralize(names.length, 'test')}, green`, names }
}

function redFirst({ verdict, tests }: Mark): ProofStep {
  const title = 'Red first'
  const names = tests?.fixed ?? []
  if (names.length > 0)
    return { title, state: 'passed', words: `${pluralize(names.length, 'test')} red at the start, green now`, names }
  if (verdict === 'proved') return { title, state: 'passed', words: 'new tests fail without the change', names }
  if (verdict === 'unproven') return { title, state: 'failed', words: 'nothing shows that the work did it', names }
  return { title, state: 'absent', words: 'not reached', names }
}

function heldOut({ checks = [] }: IterationRecord, { doneWhen = [] }: ProofSettings): ProofStep {
  const title = 'Held-out checks'
  const heldOutChecks = doneWhen.filter((check) => check.heldOut !== undefined).map(({ name, run }) => name ?? run)
  if (heldOutChecks.length === 0) return { title, state: 'absent', words: 'none set', names: [] }
  const red = heldOutChecks.filter((name) => checks.some((check) => check.name === name && !check.passed))
  if (red.length > 0) return { title, state: 'failed', words: `${red.length} red`, names: red }
  const ran = heldOutChecks.every((name) => checks.some((check) => check.name === name))
  return ran
    ? { title, state: 'passed', words: `${heldOutChecks.length} green; the agent never saw them`, names: [] }
    : { title, state: 'absent', words: 'not reached', names: [] }
}

function sealStep({ verdict }: Mark, { seal }: ProofSettings): ProofStep {
  const title = 'Seal'
  if (!seal) return { title, state: 'absent', words: 'off', names: [] }
  const part = `${Math.round(seal.minimum * 100)} %`
  if (verdict === 'proved')
    return { title, state: 'passed', words: `the tests notice ${part} of small changes or more`, names: [] }
  return { title, state: 'absent', words: `wants ${part}; not reached`, names: [] }
}

function frozenFiles({ tampered = [] }: IterationRecord): ProofStep {
  const title = 'Files that define a check'
  if (tampered.length === 0) return { title, state: 'passed', words: 'unchanged', names: [] }
  return { title, state: 'failed', words: 'changed; Ralph used those of the start', names: tampered }
}
