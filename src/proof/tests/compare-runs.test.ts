import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TestStatus, type TestResult, type TestRun } from '../../contract/tests.ts'
import { compareRuns } from './compare-runs.ts'
import { findLoss, findRunProblem } from './judge-run.ts'
import { findVolatileNames } from './volatile-names.ts'

const run = (...tests: readonly TestResult[]): TestRun => ({
  runner: 'vitest',
  source: 'reporter',
  verified: true,
  complete: true,
  tests: [...tests],
})

const test = (name: string, status: TestResult['status'], file?: string): TestResult => ({
  name,
  status,
  ...(file && { file }),
})

const nothing = { fixed: [], stillRed: [], added: [], missing: [], newlyRed: [], flaky: [] }

describe('tests of a claim beside those of the baseline', () => {
  it.each<[TestResult['status'] | undefined, TestResult['status'] | undefined, string | undefined]>([
    ['passed', 'passed', undefined],
    ['passed', 'failed', 'newlyRed'],
    ['passed', undefined, 'missing'],
    ['passed', 'skipped', 'missing'],
    ['passed', 'todo', 'missing'],
    ['passed', 'expected-failure', 'missing'],
    ['passed', 'unexpected-pass', 'missing'],
    ['passed', 'disabled', 'missing'],
    ['failed', 'passed', 'fixed'],
    ['failed', 'failed', 'stillRed'],
    ['failed', 'skipped', 'missing'],
    ['failed', undefined, 'missing'],
    ['expected-failure', 'passed', 'fixed'],
    ['expected-failure', 'unexpected-pass', 'fixed'],
    ['expected-failure', undefined, 'missing'],
    ['skipped', 'passed', 'added'],
    ['skipped', 'failed', 'newlyRed'],
    ['skipped', undefined, undefined],
    ['todo', 'passed', 'added'],
    [undefined, 'passed', 'added'],
    [undefined, 'failed', 'newlyRed'],
    [undefined, 'skipped', undefined],
  ])('%s before and %s now is %s', (before, now, list) => {
    const {
      passedBefore: _before,
      passedNow: _now,
      ...lists
    } = compareRuns(
      run(...(before ? [test('adds', before, 'a.js')] : [])),
      run(...(now ? [test('adds', now, 'a.js')] : [])),
    )
    expect(lists).toEqual({ ...nothing, ...(list && { [list]: ['a.js > adds'] }) })
  })

  it('are all missing from a run that left no names', () => {
    const baseline = run(test('adds', 'passed', 'a.js'), test('red', 'failed', 'a.js'))
    const found = compareRuns(baseline, undefined)
    expect(found).toEqual({
      ...nothing,
      missing: ['a.js > adds', 'a.js > red'],
      passedBefore: 1,
      passedNow: 0,
    })
  })

  it('are missing where they are only printed, if a reporter named them before', () => {
    const baseline = run(test('adds', 'passed'))
    const printed: TestRun = { ...baseline, source: 'output' }
    expect(compareRuns(baseline, printed).missing).toEqual(['adds'])
    expect(compareRuns(printed, printed).missing).toEqual([])
  })

  it('differ by their file', () => {
    const found = compareRuns(
      run(test('adds', 'passed', 'a.js'), test('adds', 'passed', 'b.js')),
      run(test('adds', 'passed', 'a.js'), test('adds', 'failed', 'b.js')),
    )
    expect(found.newlyRed).toEqual(['b.js > adds'])
  })

  it('cannot hide a red one behind a green one of the same name and file: the worst counts', () => {
    const baseline = run(test('adds', 'passed', 'a.js'))
    const now = run(test('adds', 'failed', 'a.js'), test('adds', 'passed', 'a.js'))
    expect(compareRuns(baseline, now).newlyRed).toEqual(['a.js > adds', 'a.js > adds #2'])
  })

  it('miss the second of two with one name', () => {
    const baseline = run(test('adds', 'passed', 'a.js'), test('adds', 'passed', 'a.js'))
    expect(compareRuns(baseline, run(test('adds', 'passed', 'a.js'))).missing).toEqual(['a.js > adds #2'])
  })

  it('are counted by name where the file is unknown, whatever their order', () => {
    const baseline = run(test('adds', 'failed'), test('adds', 'passed'))
    const now = run(test('adds', 'passed'), test('adds', 'failed'))
    const { passedBefore, passedNow, ...lists } = compareRuns(baseline, now)
    expect({ lists, passedBefore, passedNow }).toEqual({
      lists: { ...nothing, stillRed: ['adds #2'] },
      passedBefore: 1,
      passedNow: 1,
    })
  })

  it('are compared without the file where one of the runs does not know it', () => {
    const { missing, added } = compareRuns(run(test('adds', 'passed', 'a.js')), run(test('adds', 'passed')))
    expect({ missing, added }).toEqual({ missing: [], added: [] })
  })

  it('are flaky if they pass when run once more', () => {
    const baseline = run(test('adds', 'passed', 'a.js'), test('slow', 'passed', 'a.js'))
    const now = run(test('adds', 'failed', 'a.js'), test('slow', 'failed', 'a.js'))
    const rerun = run(test('adds', 'failed', 'a.js'), test('slow', 'passed', 'a.js'))
    const { newlyRed, flaky } = compareRuns(baseline, now, { rerun })
    expect({ newlyRed, flaky }).toEqual({ newlyRed: ['a.js > adds'], flaky: ['a.js > slow'] })
  })
})

describe('an error outside of tests', () => {
  const broken: TestResult = { file: 'a.js', name: 'a.js', status: 'failed', outside: true }

  it('is fixed once tests of its file pass', () => {
    const { fixed, added, missing } = compareRuns(run(broken), run(test('adds', 'passed', 'a.js')))
    expect({ fixed, added, missing }).toEqual({ fixed: ['a.js > a.js'], added: ['a.js > adds'], missing: [] })
  })

  it('is missing if its file is gone', () => {
    const { fixed, missing } = compareRuns(run(broken), run(test('adds', 'passed', 'b.js')))
    expect({ fixed, missing }).toEqual({ fixed: [], missing: ['a.js > a.js'] })
  })

  it('proves nothing where its file is unknown', () => {
    const hook: TestResult = { name: 'before all', status: 'failed', outside: true }
    const { fixed, missing } = compareRuns(run(hook), run())
    expect({ fixed, missing }).toEqual({ fixed: [], missing: [] })
  })

  it('is flaky if it does not come back, and not if the second run was stopped', () => {
    const now = run(broken)
    expect(compareRuns(run(), now, { rerun: run() }).flaky).toEqual(['a.js > a.js'])
    expect(compareRuns(run(), now, { rerun: { ...run(), complete: false } }).newlyRed).toEqual(['a.js > a.js'])
  })
})

describe('names that change with every run', () => {
  const first = run(test('listens on port 41234', 'passed', 'a.js'), test('adds 2', 'passed', 'a.js'))
  const second = run(test('listens on port 38811', 'passed', 'a.js'), test('adds 2', 'passed', 'a.js'))
  const third = run(test('listens on port 50001', 'passed', 'a.js'), test('adds 3', 'passed', 'a.js'))

  it('are compared by what stays, and all others to the letter', () => {
    const volatile = findVolatileNames(first, second)
    const { missing, added } = compareRuns(first, third, { volatile })
    expect({ missing, added }).toEqual({ missing: ['a.js > adds 2'], added: ['a.js > adds 3'] })
  })

  it.each([
    ['takes 3.5 ms at 12:30:01', 'takes * ms at *'],
    ['reads /tmp/x-81/file.txt', 'reads *'],
    ['id 6f9619ff-8b86-d011-b42d-00cf4fc964ff', 'id *'],
    ['commit 797ccf0ab', 'commit *'],
  ])('have a normal form: %s', (name, normal) => {
    expect([...findVolatileNames(run(test(name, 'passed')), run())]).toEqual([normal])
  })
})

describe('any two runs', () => {
  const anyTest = fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    status: fc.constantFrom(...TestStatus.options),
    file: fc.constantFrom('x.js', 'y.js'),
  })

  it('leave no test that passed in no list unless it passes still', () => {
    fc.assert(
      fc.property(fc.array(anyTest), fc.array(anyTest), (before, now) => {
        const { missing, newlyRed, passedBefore, passedNow } = compareRuns(run(...before), run(...now))
        const hasLoss = missing.length + newlyRed.length > 0
        expect(hasLoss || passedNow >= passedBefore).toBe(true)
      }),
    )
  })

  it('differ in nothing from themselves but in what is red', () => {
    fc.assert(
      fc.property(fc.array(anyTest), (tests) => {
        const { stillRed: _red, passedBefore, passedNow, ...lists } = compareRuns(run(...tests), run(...tests))
        const { stillRed: _none, ...others } = nothing
        expect({ lists, passedNow }).toEqual({ lists: others, passedNow: passedBefore })
      }),
    )
  })
})

describe('a check whose tests have names', () => {
  it.each<[string, TestRun, number | null, string | undefined]>([
    ['green', run(test('adds', 'passed')), 0, undefined],
    ['stopped', { ...run(test('adds', 'passed')), complete: false }, 0, 'the runner was stopped before it finished'],
    ['killed', { ...run(), complete: false }, null, 'the runner was stopped before it finished'],
    ['red', run(test('adds', 'failed')), 1, '1 red test'],
    ['red with 0', run(test('adds', 'failed')), 0, 'the command ended with 0, but its report names 1 red test'],
    [
      'red without a test',
      run(test('adds', 'passed')),
      1,
      'the command ended with 1, but its report names no red test',
    ],
    ['empty', run(), 0, 'no test ran'],
    ['skipped', run(test('adds', 'skipped')), 0, 'no test ran'],
  ])('is judged by report and exit code: %s', (_, found, exitCode, problem) => {
    expect(findRunProblem(found, exitCode)).toBe(problem)
  })

  it('loses to a baseline whose tests are missing, newly red, or were more', () => {
    const comparison = { ...nothing, passedBefore: 3, passedNow: 3 }
    expect(findLoss(comparison)).toBeUndefined()
    expect(findLoss({ ...comparison, missing: ['a'] })).toBe('1 test of the baseline missing')
    expect(findLoss({ ...comparison, newlyRed: ['a', 'b'] })).toBe('2 tests newly red')
    expect(findLoss({ ...comparison, passedNow: 2 })).toBe('2 tests passed, 3 at the baseline')
  })
})
