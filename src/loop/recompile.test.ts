import { describe, expect, it } from 'vitest'
import { after, started } from '../../test/support/builders.ts'
import {
  buildGate,
  buildItem,
  buildPart,
  buildPhase,
  buildStandard,
  completes,
  fails,
  forEach,
  listStatuses,
} from '../../test/support/phases.ts'
import { recompile } from './recompile.ts'

const at = 0

describe('a sprint with phases that has run', () => {
  const first = buildStandard([buildPhase('a'), buildPhase('b'), buildPhase('c')])
  const ran = after(first, started(), completes('a'), fails('b')).progress

  it('is not changed by the files it was compiled from', () => {
    expect(recompile(ran, first, at).changes).toEqual([])
    expect(recompile(ran, first, at).progress.phases).toEqual(ran.phases)
  })

  it('takes the new definitions for everything that is not completed', () => {
    const written = buildStandard([
      buildPhase('a', { prompt: 'do it again' }),
      buildPhase('b', { prompt: 'do it like this', gate: buildGate() }),
      buildPhase('d'),
    ])
    const { progress, changes } = recompile(ran, written, at)

    expect(changes).toEqual(['phase b changed', 'phase d added', 'phase c removed'])
    expect(progress.phases).toMatchObject([
      { id: 'a', prompt: 'do a', status: 'completed' },
      { id: 'b', prompt: 'do it like this', status: 'blocked', error: 'boom', gate: buildGate() },
      { id: 'd', status: 'pending' },
    ])
    expect(progress.stats).toMatchObject({ totalPhases: 3, completedPhases: 1 })
  })

  it('drops a failed phase that was removed', () => {
    const { progress } = recompile(ran, buildStandard([buildPhase('a'), buildPhase('c')]), at)

    expect(listStatuses(progress)).toEqual({ a: 'completed', c: 'pending' })
    expect(after(progress, started(), completes('c')).progress.status).toBe('completed')
  })
})

it('a completed sprint with new work continues', () => {
  const completed = after(buildStandard([buildPhase('a')]), started(), completes('a')).progress
  const { progress } = recompile(completed, buildStandard([buildPhase('a'), buildPhase('b')]), at)

  expect(completed.status).toBe('completed')
  expect(progress.status).toBe('paused')
  expect(after(progress, started(), completes('b')).progress.status).toBe('completed')
})

describe('a phase with items', () => {
  const item = (id: string) => buildItem(id, { phases: [buildPart('write'), buildPart('test')] })
  const graph = (...done: readonly string[]) => [
    {
      phaseId: 'work',
      nodes: [
        { id: 'x', dependsOn: [], blockedBy: [] },
        { id: 'y', dependsOn: ['x'], blockedBy: ['x'].filter((id) => !done.includes(id)) },
      ],
    },
  ]
  const steps = [item('x'), buildItem('y', { dependsOn: ['x'] })]
  const first = buildStandard([forEach('work', steps)], { dependencyGraph: graph() })
  const ran = after(first, started(), completes('work/x'), completes('work/x')).progress

  it('is unchanged although fewer items are blocked than at the start', () => {
    expect(ran.dependencyGraph).toEqual(graph('x'))
    const { progress, changes } = recompile(ran, first, at)

    expect(changes).toEqual([])
    expect(progress.dependencyGraph).toEqual(graph('x'))
  })

  it('continues with items that were added after it completed, and with its gate', () => {
    const over = after(ran, completes('work/y')).progress
    const written = buildStandard([forEach('work', [...steps, buildItem('z')], { gate: buildGate() })], {
      dependencyGraph: graph(),
    })
    const { progress, changes } = recompile(over, written, at)

    expect(over.phases?.[0]?.status).toBe('completed')
    expect(changes).toEqual(['phase work changed'])
    expect(listStatuses(progress)).toMatchObject({ work: 'pending', 'work/x': 'completed', 'work/z': 'pending' })
    expect(progress.stats).toMatchObject({ totalPhases: 5, completedPhases: 3, totalSteps: 3, completedSteps: 2 })
  })
})
