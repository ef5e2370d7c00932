import { describe, expect, it } from 'vitest'
import { after, started } from '../../../../test/support/builders.ts'
import {
  buildItem,
  buildPart,
  buildPhase,
  buildStandard,
  completes,
  fails,
  forEach,
  listStatuses,
  listInProgress,
} from '../../../../test/support/phases.ts'
import type { Progress } from '../../../contract/progress.ts'

/** What is live after the start, and after each of these completes. */
function course(progress: Progress, ...names: readonly string[]): string[][] {
  let now = after(progress, started()).progress
  const seen = [listInProgress(now)]
  for (const name of names) {
    now = after(now, completes(name)).progress
    seen.push(listInProgress(now))
  }
  return seen
}

const sideBySide = (maxConcurrency = 4): Partial<Progress> => ({
  parallelExecution: { enabled: true, maxConcurrency, onDependencyFailure: 'skip-dependents' },
})

describe('phases', () => {
  it('run one after the other', () => {
    expect(course(buildStandard([buildPhase('a'), buildPhase('b')]), 'a', 'b')).toEqual([['a'], ['b'], []])
  })

  it('that are parallel hold up nothing', () => {
    const progress = buildStandard([buildPhase('a', { parallel: true }), buildPhase('b'), buildPhase('c')])

    expect(course(progress, 'b', 'a', 'c')).toEqual([['a', 'b'], ['a', 'c'], ['c'], []])
  })

  it('that wait for parallel ones hold up all phases behind them', () => {
    const progress = buildStandard([
      buildPhase('a', { parallel: true }),
      buildPhase('b', { waitForParallel: true, parallel: true }),
      buildPhase('c'),
    ])

    expect(course(progress, 'a')).toEqual([['a'], ['b', 'c']])
  })

  it('run at most four at a time by default', () => {
    const five = ['a', 'b', 'c', 'd', 'e'].map((id) => buildPhase(id, { parallel: true }))

    expect(course(buildStandard(five), 'c')).toEqual([
      ['a', 'b', 'c', 'd'],
      ['a', 'b', 'd', 'e'],
    ])
  })

  it('without items complete at once', () => {
    expect(course(buildStandard([forEach('none', []), buildPhase('b'), forEach('last', [])]), 'b')).toEqual([['b'], []])
  })
})

describe('items', () => {
  it('run one after the other, all parts of one before the next', () => {
    const phases = [buildPart('write'), buildPart('test')]
    const progress = buildStandard([forEach('work', [buildItem('x', { phases }), buildItem('y', { phases })])])

    expect(course(progress, 'work/x', 'work/x', 'work/y')).toEqual([
      ['work/x/write'],
      ['work/x/test'],
      ['work/y/write'],
      ['work/y/test'],
    ])
  })

  it('run in the order of their dependencies', () => {
    const progress = buildStandard([
      forEach('work', [buildItem('x', { dependsOn: ['z'] }), buildItem('y'), buildItem('z')]),
    ])

    expect(course(progress, 'work/y', 'work/z')).toEqual([['work/y/execute'], ['work/z/execute'], ['work/x/execute']])
  })

  it('in parallel start as soon as their dependencies complete, up to the limit', () => {
    const steps = [buildItem('x'), buildItem('y', { dependsOn: ['x'] }), buildItem('z'), buildItem('w')]
    const progress = buildStandard([forEach('work', steps, { parallel: true })], sideBySide(2))

    expect(course(progress, 'work/z', 'work/x', 'work/y')).toEqual([
      ['work/x/execute', 'work/z/execute'],
      ['work/x/execute', 'work/w/execute'],
      ['work/w/execute', 'work/y/execute'],
      ['work/w/execute'],
    ])
  })

  it('may have parallel parts', () => {
    const phases = [buildPart('a', { parallel: true }), buildPart('b'), buildPart('c', { waitForParallel: true })]
    const progress = buildStandard([forEach('work', [buildItem('x', { phases })])])

    expect(course(progress, 'work/x/b', 'work/x/a')).toEqual([['work/x/a', 'work/x/b'], ['work/x/a'], ['work/x/c']])
  })

  it('hold up the next phase, even in parallel', () => {
    const progress = buildStandard(
      [forEach('work', [buildItem('x'), buildItem('y')], { parallel: true }), buildPhase('next')],
      sideBySide(),
    )

    expect(course(progress, 'work/x', 'work/y')).toEqual([
      ['work/x/execute', 'work/y/execute'],
      ['work/y/execute'],
      ['next'],
    ])
  })
})

describe('after a failure', () => {
  const steps = [
    buildItem('x'),
    buildItem('y', { dependsOn: ['x'] }),
    buildItem('w', { dependsOn: ['y'] }),
    buildItem('z'),
  ]
  const failing = (onDependencyFailure: 'skip-dependents' | 'fail-phase' | 'continue') =>
    after(
      buildStandard([forEach('work', steps, { parallel: true })], {
        parallelExecution: { enabled: true, maxConcurrency: 1, onDependencyFailure },
      }),
      started(),
      fails('work/x'),
    ).progress

  it('direct and indirect dependents are skipped, and others continue', () => {
    const progress = failing('skip-dependents')

    expect(listStatuses(progress)).toMatchObject({ 'work/x': 'failed', 'work/y': 'skipped', 'work/w': 'skipped' })
    expect(listInProgress(progress)).toEqual(['work/z/execute'])
    expect(after(progress, completes('work/z')).progress).toMatchObject({ status: 'blocked', failedPhase: 'work' })
  })

  it('nothing continues with fail-phase', () => {
    expect(failing('fail-phase')).toMatchObject({ status: 'blocked', live: [] })
  })

  it('dependents run with continue, but the phase does not complete', () => {
    const progress = failing('continue')

    expect(listInProgress(progress)).toEqual(['work/y/execute'])
    expect(after(progress, completes('work/y'), completes('work/w'), completes('work/z')).progress).toMatchObject({
      status: 'blocked',
      phases: [{ status: 'blocked' }],
    })
  })

  it('sequential items stop at the first failure', () => {
    const progress = after(
      buildStandard([forEach('work', [buildItem('x'), buildItem('y')])]),
      started(),
      fails('work/x'),
    ).progress

    expect(progress).toMatchObject({ status: 'blocked', reason: 'phase work failed: x: boom' })
    expect(listStatuses(progress)).toMatchObject({ work: 'blocked', 'work/x': 'failed', 'work/y': 'pending' })
  })
})
