import { describe, expect, it } from 'vitest'
import type { TestRun } from '../../contract/tests.ts'
import { findDifference, findFlips, isRicher, judgeRun } from './judge.ts'
import type { CheckRecord } from './record.ts'
import type { CheckRun } from './run-check.ts'

type Statuses = Readonly<Record<string, 'passed' | 'failed'>>

const buildRun = (tests: Statuses): TestRun => ({
  runner: 'node-test',
  source: 'reporter',
  verified: true,
  complete: true,
  tests: Object.entries(tests).map(([name, status]) => ({ name, file: 'a.js', status })),
})
const ended = (tests: Statuses): CheckRun => ({
  exitCode: Object.values(tests).includes('failed') ? 1 : 0,
  output: '',
  durationMs: 1,
  room: 'clean',
  notes: [],
  run: buildRun(tests),
})
const record = (tests: Statuses, flaky: string[] = []): CheckRecord => ({
  name: 'npm test',
  command: 'npm test',
  passed: false,
  exitCode: 1,
  place: 'room',
  run: buildRun(tests),
  volatile: [],
  flaky,
})

describe('a flaky test of the start', () => {
  const [green, red] = [ended({ a: 'passed', b: 'passed' }), ended({ a: 'passed', b: 'failed' })]

  it('is one that flips between two runs of the same files', () => {
    expect(findFlips(green, red)).toEqual(['a.js > b'])
    expect(findFlips(red, red)).toEqual([])
  })

  it('is no difference between the work tree and the room', () => {
    expect(findDifference(green, red)).toBeDefined()
    expect(findDifference(green, red, new Set(['a.js > b']))).toBeUndefined()
  })

  it('is another thing than a test that does not run in the room', () => {
    const { run: _, ...unnamed } = red
    expect(findDifference(red, unnamed)).toBe('2 tests run in the work tree, none in the room')
    expect(findDifference(red, ended({ b: 'failed' }))).toContain('in the room')
    expect(findDifference(ended({ a: 'failed', b: 'failed' }), ended({ b: 'failed' }))).toBe(
      '2 tests run in the work tree, 1 in the room',
    )
  })

  it('hides no other difference', () => {
    const other = ended({ a: 'failed', b: 'failed' })
    expect(findDifference(green, other, new Set(['a.js > b']))).toContain('exit code')
  })

  it('proves nothing when it is green later', () => {
    const before = { a: 'passed', b: 'failed' } as const
    expect(judgeRun(record(before), green, { mayChange: [] }).tests?.fixed).toEqual(['a.js > b'])
    expect(judgeRun(record(before, ['a.js > b']), green, { mayChange: [] }).tests?.fixed).toEqual([])
  })
})

it('a room lacks nothing where all tests of the work tree are and more pass, as with a service that only it reaches', () => {
  const inPlace = ended({ a: 'passed', service: 'failed' })
  expect(isRicher(inPlace, ended({ a: 'passed', service: 'passed' }), true)).toBe(true)
  expect(isRicher(inPlace, ended({ a: 'failed', service: 'passed' }), true)).toBe(false)
  expect(isRicher(inPlace, ended({ a: 'passed', other: 'passed' }), true)).toBe(false)
  const { run: _, ...unnamed } = inPlace
  expect([true, false].map((isOpen) => isRicher(unnamed, { ...unnamed, exitCode: 0 }, isOpen))).toEqual([true, false])
})
