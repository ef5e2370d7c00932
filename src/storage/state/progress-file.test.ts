import { expect, it } from 'vitest'
import { z } from 'zod'
import { after, buildProgress, noon, started, buildSteps } from '../../../test/support/builders.ts'
import {
  buildGate,
  buildItem,
  buildPart,
  buildPhase,
  buildStandard,
  completes,
  fails,
  forEach,
  gateEnds,
} from '../../../test/support/phases.ts'
import { Progress } from '../../contract/progress.ts'
import { encodeProgress } from './encode-progress.ts'
import { parseProgress } from './progress-file.ts'
import { formatProgress } from './progress-text.ts'

it('writes a sprint with phases so that it reads back the same, even after changes in the middle', () => {
  const graph = [
    {
      phaseId: 'work',
      nodes: [
        { id: 'x', dependsOn: [], blockedBy: [] },
        { id: 'y', dependsOn: ['x'], blockedBy: ['x'] },
      ],
    },
  ]
  const items = [
    buildItem('x', { phases: [buildPart('p'), buildPart('q', { gate: buildGate() })] }),
    buildItem('y', { dependsOn: ['x'] }),
  ]
  const progress = buildStandard(
    [buildPhase('a', { prompt: 'one\n\ntwo: [3]' }), forEach('work', items), forEach('none', [])],
    {
      dependencyGraph: graph,
      prompts: { header: '# {{sprint-id}}' },
    },
  )
  const facts = [
    completes('a'),
    completes('work/x'),
    completes('work/x'),
    gateEnds('work/x', 1),
    completes('work/x'),
    gateEnds('work/x', 0),
    fails('work/y'),
  ]
  let now = after(progress, started()).progress
  for (const fact of facts) {
    now = after(now, fact).progress
    expect(parseProgress(formatProgress(now), 'PROGRESS.yaml')).toEqual(now)
    expect(encodeProgress(now)).toEqual(z.encode(Progress, now))
  }
  expect(now.status).toBe('blocked')
})

it('reads completed steps first, no matter their order in the file', () => {
  const [one, two, three] = buildSteps('one', 'two', 'three')
  if (!one || !two || !three) throw new Error('three steps')
  const done = { ...two, status: 'completed' as const, completedAt: noon, completedInIteration: 1 }
  const written = formatProgress(buildProgress({ dynamicSteps: [one, done, three] }))
  expect(parseProgress(written, 'PROGRESS.yaml').dynamicSteps).toEqual([done, one, three])
})
