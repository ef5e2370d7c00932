import { expect, it } from 'vitest'
import { buildProgress, buildStep, frozen, noon, buildSteps } from '../../../../test/support/builders.ts'
import type { Progress } from '../../../contract/progress.ts'
import type { StepEdit } from '../../core/way.ts'
import { fromProgress, toProgress } from '../../progress-codec.ts'
import { editStep } from './edits.ts'

const moment = { at: noon + 5000, iteration: 7 }
const apply = (progress: Progress, ...edits: readonly StepEdit[]) =>
  toProgress(frozen(edits).reduce((sprint, edit) => editStep(sprint, edit, moment), frozen(fromProgress(progress))))
const texts = ({ dynamicSteps }: Progress) => dynamicSteps.map(({ prompt }) => prompt)

it('appends a step with a new id', () => {
  const before = buildProgress({ dynamicSteps: buildSteps('alpha'), stats: { totalSteps: 9 } })
  const after = apply(before, { kind: 'step-added', prompt: 'beta' })

  expect(after.dynamicSteps.at(-1)).toEqual({
    id: 'step-9',
    prompt: 'beta',
    status: 'pending',
    addedAt: moment.at,
    addedInIteration: 7,
  })
  expect(after.stats.totalSteps).toBe(10)
})

it('keeps the id of its author, by which an agent completes it later', () => {
  const adds = ['step-1', 'step-2', 'login'].map((id): StepEdit => ({ kind: 'step-added', prompt: id, id }))
  const after = apply(buildProgress({}), ...adds, { kind: 'step-completed', id: 'step-1' })
  expect(after.dynamicSteps.map(({ id, prompt, status }) => `${id} ${prompt} ${status}`)).toEqual([
    'step-1 step-1 completed',
    'step-2 step-2 pending',
    'login login pending',
  ])
  expect(after.stats).toMatchObject({ totalSteps: 3, completedSteps: 1 })
})

it.each(['step-N', 'step-4', 'login', '', '../x', `step-${'9'.repeat(30)}`])('gives a new id instead of "%s"', (id) => {
  const steps = [buildStep({ id: 'step-5' }), buildStep({ id: 'login' })]
  const after = apply(buildProgress({ dynamicSteps: steps, stats: { totalSteps: 2 } }), {
    kind: 'step-added',
    prompt: 'x',
    id,
  })
  expect(after.dynamicSteps.at(-1)?.id).toBe('step-6')
})

it('adds a step that its author has already completed', () => {
  const after = apply(buildProgress({}), { kind: 'step-added', prompt: 'x', id: 'step-0', completed: true })
  expect(after.dynamicSteps.map(({ id, status }) => `${id} ${status}`)).toEqual(['step-0 completed'])
  expect(after.stats).toMatchObject({ totalSteps: 1, completedSteps: 1 })
})

it('completes a pending step, once', () => {
  const edit: StepEdit = { kind: 'step-completed', id: 'step-1' }
  const after = apply(buildProgress({ dynamicSteps: buildSteps('alpha', 'beta') }), edit, edit)

  expect(after.dynamicSteps).toEqual([
    buildStep({ id: 'step-1', prompt: 'beta', status: 'completed', completedAt: moment.at, completedInIteration: 7 }),
    buildStep({ id: 'step-0', prompt: 'alpha' }),
  ])
  expect(after.stats.completedSteps).toBe(1)
})

it('rewords a pending step and leaves a completed one unchanged', () => {
  const before = buildProgress({
    dynamicSteps: [buildStep({ status: 'completed', prompt: 'old' }), buildStep({ id: 'step-1' })],
  })
  const after = apply(
    before,
    { kind: 'step-reworded', id: 'step-0', prompt: 'new' },
    { kind: 'step-reworded', id: 'step-1', prompt: 'new' },
  )

  expect(texts(after)).toEqual(['old', 'new'])
})

it('orders pending steps; unlisted ones stay behind, in their order', () => {
  const before = buildProgress({
    dynamicSteps: [buildStep({ status: 'completed', prompt: 'done' }), ...buildSteps('a', 'b', 'c', 'd')],
  })
  const after = apply(before, { kind: 'steps-ordered', ids: ['step-3', 'gone', 'step-1'] })

  expect(texts(after)).toEqual(['done', 'd', 'b', 'a', 'c'])
})

it.each<StepEdit>([
  { kind: 'step-completed', id: 'unknown' },
  { kind: 'step-reworded', id: 'unknown', prompt: 'x' },
  { kind: 'steps-ordered', ids: ['unknown'] },
])('changes nothing for unknown steps: %j', (edit) => {
  const before = buildProgress({ dynamicSteps: buildSteps('alpha', 'beta') })

  expect(apply(before, edit)).toEqual(before)
})
