import { expect, it } from 'vitest'
import {
  after,
  buildProgress,
  buildStep,
  newSteps,
  reports,
  started,
  buildSteps,
} from '../../../../test/support/builders.ts'
import type { Progress } from '../../../contract/progress.ts'
import { chooseMode } from './iteration-mode.ts'
import { fromProgress } from '../../progress-codec.ts'

/** The modes of all iterations so far, including the live one. */
const modes = ({ iterations, live }: Progress) => [...iterations, ...live].map(({ mode }) => mode)

it('plans when there are no steps', () => {
  expect(chooseMode(fromProgress(buildProgress()))).toEqual({ mode: 'planning', idleCount: 1 })
})

it('executes the first pending step, past the completed ones', () => {
  const next = buildStep({ id: 'step-1' })
  const progress = buildProgress({
    dynamicSteps: [buildStep({ status: 'completed' }), next, buildStep({ id: 'step-2' })],
    ralph: { idleCount: 2 },
  })

  expect(chooseMode(fromProgress(progress))).toEqual({ mode: 'executing', step: next, idleCount: 0 })
})

it('reflects once no step has been pending for idle-threshold iterations', () => {
  const idle = reports()
  const { progress } = after(buildProgress({ ralph: { idleThreshold: 3 } }), started(), idle, idle, idle)

  expect(modes(progress)).toEqual(['planning', 'planning', 'reflecting', 'reflecting'])
})

it('plans in the first iteration even if idle-threshold is 1', () => {
  const idle = reports()
  const { progress } = after(buildProgress({ ralph: { idleThreshold: 1 } }), started(), idle, idle)

  expect(modes(progress)).toEqual(['planning', 'reflecting', 'reflecting'])
})

it('resets the count of idle iterations after a step was executed', () => {
  const plan = reports({ pendingSteps: newSteps('alpha') })
  const execute = reports({ completedStepIds: ['step-0'] })
  const idle = reports()
  const { progress } = after(buildProgress({ ralph: { idleThreshold: 2 } }), started(), plan, execute, idle, idle)

  expect(modes(progress)).toEqual(['planning', 'executing', 'planning', 'reflecting', 'reflecting'])
})

it('executes in the first iteration if steps are already pending', () => {
  const { progress } = after(buildProgress({ dynamicSteps: buildSteps('alpha') }), started())

  expect(progress.live).toMatchObject([{ number: 1, mode: 'executing', step: 'step-0' }])
})
