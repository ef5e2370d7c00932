import { expect, it } from 'vitest'
import { buildProgress, buildStep, noon } from '../../../test/support/builders.ts'
import type { CompiledPhase } from '../../contract/phases.ts'
import { parseProgress } from './progress-file.ts'
import { formatProgress } from './progress-text.ts'
import { encodeShownProgress } from './shown-progress.ts'

const at = '2026-03-05T12:00:00.000Z'
const startTimes = { startedAt: Date.parse(at) }

const phases: CompiledPhase[] = [
  { id: 'docs', prompt: 'p', status: 'in-progress', parallel: true, ...startTimes },
  { id: 'lint', prompt: 'p', status: 'pending', parallel: true },
  {
    id: 'work',
    status: 'in-progress',
    parallel: true,
    steps: [
      {
        id: 'a',
        prompt: 'p',
        status: 'failed',
        error: 'boom',
        phases: [],
        ...startTimes,
        completedAt: startTimes.startedAt,
      },
      { id: 'b', prompt: 'p', status: 'pending', phases: [] },
    ],
  },
  {
    id: 'in-turn',
    status: 'in-progress',
    steps: [
      {
        id: 'c',
        prompt: 'p',
        status: 'in-progress',
        phases: [
          { id: 'write', prompt: 'p', status: 'in-progress', ...startTimes },
          {
            id: 'report',
            prompt: 'p',
            status: 'completed',
            parallel: true,
            ...startTimes,
            completedAt: startTimes.startedAt,
          },
        ],
        ...startTimes,
      },
    ],
  },
]

it('lists what runs or ran beside other work: phases, items, and parts of items', () => {
  expect(encodeShownProgress(buildProgress({ mode: 'standard', phases }))['parallel-tasks']).toEqual([
    { id: 'docs', 'phase-id': 'docs', status: 'running', 'spawned-at': at },
    {
      id: 'a-work',
      'step-id': 'a',
      'phase-id': 'work',
      status: 'failed',
      'spawned-at': at,
      'completed-at': at,
      error: 'boom',
    },
    {
      id: 'c-report',
      'step-id': 'c',
      'phase-id': 'report',
      status: 'completed',
      'spawned-at': at,
      'completed-at': at,
    },
  ])
})

it('points at the next pending step in ralph mode', () => {
  const steps = [buildStep({ status: 'completed' }), buildStep({ id: 'step-1' })]
  expect(encodeShownProgress(buildProgress({ dynamicSteps: steps }))['current']).toEqual({
    phase: 0,
    step: 1,
    'sub-phase': null,
  })
  expect(encodeShownProgress(buildProgress({ dynamicSteps: [] }))['current']).toMatchObject({ step: null })
})

it('adds nothing that is read back as state', () => {
  const progress = buildProgress({ dynamicSteps: [buildStep()], stats: { startedAt: noon } })
  expect(parseProgress(formatProgress(progress), 'PROGRESS.yaml')).toEqual(progress)
})
