import { describe, expect, it } from 'vitest'
import {
  buildHook,
  buildProgress,
  attemptEnded,
  hookEnds,
  newSteps,
  reports,
  started,
  type Play,
} from '../../test/support/builders.ts'
import type { Progress } from '../contract/progress.ts'
import { advance } from '../loop/advance.ts'
import type { AttemptFolderState } from './attempt-invariants.ts'
import { checkInvariants, isDeepEqual, type ReplayEntry, type Evidence } from './invariants.ts'

const sprint = buildProgress({ perIterationHooks: [buildHook()], limits: { noProgress: 'off' } })

/** The journal of a run with these facts, and the state it leads to. */
function createJournal(...plays: readonly Play[]): { readonly entries: ReplayEntry[]; readonly progress: Progress } {
  const entries: ReplayEntry[] = [
    { seq: 1, epoch: 1, kind: 'snapshot', progress: sprint },
    { seq: 2, epoch: 1, kind: 'run' },
  ]
  let progress: Progress = sprint
  for (const play of plays) {
    const fact = typeof play === 'function' ? play(progress) : play
    entries.push({ seq: entries.length + 1, epoch: 1, kind: 'fact', fact })
    progress = advance(progress, fact).progress
  }
  return { entries, progress }
}

const work = [started(), reports({ pendingSteps: newSteps('one', 'two') }), hookEnds()]
const whole = createJournal(...work)

function findings(overrides: Partial<Evidence>): string[] {
  const evidence = { entries: whole.entries, shown: whole.progress, attempts: [], isRunning: false, ...overrides }
  return checkInvariants(evidence).findings.map(({ invariant, level, text }) => `${invariant} ${level}: ${text}`)
}

const folders = (...names: readonly string[]): AttemptFolderState[] =>
  names.map((text) => {
    const [name = '', state = 'ended'] = text.split(' ')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by hand below
    return { name, state: state as AttemptFolderState['state'] }
  })

it('finds nothing wrong with a healthy sprint, and returns its state', () => {
  const { findings: found, progress } = checkInvariants({
    entries: whole.entries,
    shown: whole.progress,
    attempts: folders('1-1', '1-hook-lint', '2-1'),
    isRunning: false,
  })
  expect(found).toEqual([])
  expect(progress).toEqual(whole.progress)
})

it('finds nothing in an empty journal', () => {
  expect(checkInvariants({ entries: [], attempts: [], isRunning: false })).toEqual({ findings: [] })
})

describe('the records of a journal', () => {
  const { entries } = whole

  it('must be complete', () => {
    expect(findings({ entries: entries.toSpliced(1, 1) })).toEqual(['I1 broken: record 3 follows record 1'])
    expect(findings({ entries: entries.slice(2) })).toContain('I1 broken: record 3 has no snapshot before it')
  })

  it('must have one owner at a time', () => {
    const stale = entries.map((entry, index) => (index === 3 ? { ...entry, epoch: 0 } : entry))
    expect(findings({ entries: stale })).toContain('I5 broken: record 4 (fact) of epoch 0 follows one of epoch 1')
    const again = [...entries, { seq: 6, epoch: 1, kind: 'run' as const }]
    expect(findings({ entries: again })).toEqual(['I5 broken: record 6 (run) of epoch 1 follows one of epoch 1'])
    expect(findings({ entries: [...entries, { seq: 6, epoch: 2, kind: 'run' as const }] })).toEqual([])
  })

  it('must lead to the state in a later snapshot', () => {
    const snapshot = (progress: Progress, epoch = 1): ReplayEntry[] => [
      ...entries,
      { seq: 6, epoch, kind: 'snapshot', progress },
    ]
    expect(findings({ entries: snapshot(whole.progress) })).toEqual([])
    const another = { ...whole.progress, goal: 'another' }
    expect(findings({ entries: snapshot(another) })).toEqual([
      'I8 broken: the snapshot in record 6 is not what the records before it lead to',
    ])
    expect(findings({ entries: snapshot(another, 2), shown: another })).toEqual([])
  })

  it('must be applicable', () => {
    const twice = [...entries, ...entries.slice(3, 4).map((entry) => ({ ...entry, seq: 6 }))]
    expect(findings({ entries: twice })).toEqual([expect.stringMatching(/^I8 broken: record 6 cannot be applied: /)])
  })
})

/** Findings if the rules themselves are wrong. */
function findingsWithBrokenRules(
  change: (before: Progress, after: Progress) => Progress,
  ...more: readonly Play[]
): string[] {
  const { entries } = createJournal(...work, ...more)
  const { findings: found } = checkInvariants({ entries, attempts: [], isRunning: true }, (progress, fact) => {
    const next = advance(progress, fact)
    return { ...next, progress: change(progress, next.progress) }
  })
  return found.map(({ invariant, text }) => `${invariant}: ${text}`)
}

describe('the history of a sprint', () => {
  const more = [reports({ completedStepIds: ['step-0'] }), hookEnds()]

  it('must count every iteration once', () => {
    const counted = (by: number) => (before: Progress, after: Progress) =>
      after.stats.currentIteration > before.stats.currentIteration && before.stats.currentIteration > 0
        ? { ...after, stats: { ...after.stats, currentIteration: after.stats.currentIteration + by } }
        : after
    expect(findingsWithBrokenRules(counted(1))).toContain('I2: iteration 2 is the last one, but 3 are counted')
    expect(findingsWithBrokenRules(counted(-1))).toContain('I2: iteration 2 is the last one, but 1 are counted')
  })

  it('must not lose a step or its completion', () => {
    const shorter = (_: Progress, after: Progress) => ({ ...after, dynamicSteps: after.dynamicSteps.slice(0, 1) })
    expect(findingsWithBrokenRules(shorter)).toContain('I3: 1 steps are new, 2 are counted')
    const emptied = (before: Progress, after: Progress) =>
      before.dynamicSteps.length > 0 ? { ...after, dynamicSteps: [] } : after
    expect(findingsWithBrokenRules(emptied)).toContain('I3: step-0 was pending and is gone')
    const reopened = (before: Progress, after: Progress): Progress =>
      before.stats.completedSteps === 0
        ? after
        : { ...after, dynamicSteps: after.dynamicSteps.map((step) => ({ ...step, status: 'pending' })) }
    expect(findingsWithBrokenRules(reopened, ...more)).toContain('I3: step-0 was completed and is pending again')
  })

  it('must not decrease a counter', () => {
    const forgetful = (before: Progress, after: Progress) =>
      before.stats.totalSteps > 0 ? { ...after, stats: { ...after.stats, totalSteps: 0 } } : after
    expect(findingsWithBrokenRules((_, after) => ({ ...after, rev: 1 }))).toContain('I10: rev 1 follows 1')
    expect(findingsWithBrokenRules(forgetful)).toContain('I10: total-steps was 2 and is 0')
  })

  it('must not lose a hook or start it twice', () => {
    const stuck = (before: Progress, after: Progress) => ({
      ...after,
      hookTasks: before.hookTasks.length > 0 ? [] : after.hookTasks,
    })
    expect(findingsWithBrokenRules(stuck)).toContain('I14: hook lint of iteration 1 was running and is gone')
  })

  it('must not exceed a limit', () => {
    const limited = (_: Progress, after: Progress) =>
      after.stats.currentIteration === 2 ? { ...after, stats: { ...after.stats, maxIterations: 1 } } : after
    expect(findingsWithBrokenRules(limited)).toContain('I11: iteration 2 is over the limit of 1')
  })
})

describe('PROGRESS.yaml', () => {
  it('may be outdated after a crash, or edited: the next run repairs it', () => {
    expect(findings({ shown: undefined })).toEqual(['I8 notice: PROGRESS.yaml is not there; the next run writes it'])
    expect(findings({ shown: { ...whole.progress, rev: 1 } })).toEqual([
      'I8 notice: PROGRESS.yaml is of rev 1, the journal of 3; the next run writes it',
    ])
    expect(findings({ shown: { ...whole.progress, goal: 'mine' } })).toEqual([
      'I8 notice: PROGRESS.yaml was edited; the next run takes that over',
    ])
    expect(findings({ shown: undefined, isRunning: true })).toEqual([])
  })

  it('must not be newer than the journal', () => {
    expect(findings({ shown: { ...whole.progress, rev: 9 } })).toEqual([
      'I8 broken: PROGRESS.yaml is of rev 9, the journal ends at rev 3',
    ])
  })
})

describe('the folders of attempts', () => {
  it.each([
    ['3-1', 'I2 broken: 3-1 is there, but iteration 3 has never begun'],
    ['2-2', 'I4 broken: 2-2 is there, but attempt 1 is the last one of the iteration'],
    ['1-1 running', 'I7 broken: 1-1 is over, but its process still runs'],
    ['1-hook-lint running', 'I7 broken: 1-hook-lint is over, but its process still runs'],
    ['2-1 running', 'I7 notice: 2-1 still runs; the next run joins it'],
    ['2-1.2', 'I4 broken: 2-1.2 has run although the one before is gone'],
  ])('with %s: %s', (folder, finding) => {
    expect(findings({ attempts: folders(folder) })).toEqual([finding])
  })

  it('may repeat if the previous one had no result', () => {
    expect(findings({ attempts: folders('2-1 never-started', '2-1.2') })).toEqual([])
    expect(findings({ attempts: folders('2-1 aborted', '2-1.2 aborted', '2-1.3') })).toEqual([])
    expect(findings({ attempts: folders('2-check-1 lost', '2-check-1.2') })).toEqual([])
    expect(findings({ attempts: folders('2-check-1 ended', '2-check-1.2') })).toEqual([])
    expect(findings({ attempts: folders('2-gate ended', '2-gate.2') })).toEqual([])
    expect(findings({ attempts: folders('2-1 ended', '2-1.2') })).toEqual([
      'I4 broken: 2-1.2 has run although 2-1 is ended',
    ])
    expect(findings({ attempts: folders('2-1 lost', '2-1.2') })).toEqual([
      'I4 broken: 2-1.2 has run although 2-1 is lost',
    ])
  })

  it('may be unknown to the state once part of the journal was moved aside', () => {
    expect(findings({ attempts: folders('9-1'), isRepaired: true })).toEqual([])
  })
})

it('detects an attempt that ends twice', () => {
  const { entries } = createJournal(started(), attemptEnded({ kind: 'aborted' }))
  const last = entries.at(-1)
  const twice = last ? [...entries, { ...last, seq: last.seq + 1 }] : []
  const { findings: found } = checkInvariants({ entries: twice, attempts: [], isRunning: true }, (progress, fact) => ({
    progress: {
      ...advance(sprint, started()).progress,
      rev: progress.rev + 1,
      status: fact.type === 'started' ? 'in-progress' : progress.status,
    },
    orders: [],
  }))
  expect(found.map(({ text }) => text)).toContain('attempt 1-1 ends twice')
})

it.each([
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, true],
  [{ a: 1 }, { a: 1, b: null }, false],
  [[1], { 0: 1 }, false],
  [[1, 2], [1], false],
  [null, {}, false],
])('compares data: %j and %j', (a, b, expected) => {
  expect(isDeepEqual(a, b)).toBe(expected)
})
