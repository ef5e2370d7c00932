import { RalphError } from '../../../contract/errors.ts'
import type { CompiledPhase, CompiledStep, CompiledSubPhase, WorkRef } from '../../../contract/phases.ts'
import type { Sprint } from '../../core/sprint.ts'
import { listPhases, setPhasesState } from './phases-state.ts'
import { findFirstOpen, replaceUnit, findUnit } from './units.ts'

/** Something that an agent is asked to do, or a phase whose items are. */
export type PhaseWork = CompiledPhase | CompiledSubPhase

export function getPhase(sprint: Sprint, id: string): CompiledPhase {
  const phase = findUnit(listPhases(sprint), id)
  if (!phase) throw new RalphError('INTERNAL', `there is no phase ${id}`)
  return phase
}

export function getStep(sprint: Sprint, ref: WorkRef): CompiledStep {
  const step = findUnit(getPhase(sprint, ref.phase).steps ?? [], ref.step)
  if (!step) throw new RalphError('INTERNAL', `there is no ${formatWorkRef(ref)}`)
  return step
}

export function getWork(sprint: Sprint, ref: WorkRef): PhaseWork {
  if (ref.step === undefined) return getPhase(sprint, ref.phase)
  const subPhase = findUnit(getStep(sprint, ref).phases, ref.subPhase)
  if (!subPhase) throw new RalphError('INTERNAL', `there is no ${formatWorkRef(ref)}`)
  return subPhase
}

/** Returns the sprint with one phase changed. */
export const updatePhase = (sprint: Sprint, id: string, change: (phase: CompiledPhase) => CompiledPhase): Sprint =>
  setPhasesState(sprint, { phases: replaceUnit(listPhases(sprint), id, change) })

export const updateStep = (
  sprint: Sprint,
  ref: Required<Pick<WorkRef, 'phase'>> & Pick<WorkRef, 'step'>,
  change: (step: CompiledStep) => CompiledStep,
): Sprint =>
  updatePhase(sprint, ref.phase, (phase) => ({ ...phase, steps: replaceUnit(phase.steps ?? [], ref.step, change) }))

/** Applies the same change to a phase or a part. */
export function updateWork(sprint: Sprint, ref: WorkRef, change: <W extends PhaseWork>(work: W) => W): Sprint {
  if (ref.step === undefined) return updatePhase(sprint, ref.phase, change)
  return updateStep(sprint, ref, (step) => ({ ...step, phases: replaceUnit(step.phases, ref.subPhase, change) }))
}

/** Display name of a piece of work. */
export const formatWorkRef = ({ phase, step, subPhase }: WorkRef): string =>
  [phase, step, subPhase].filter((id) => id !== undefined).join('/')

/** Whether `part` equals `whole` or belongs to it. */
const isPartOfWork = (part: WorkRef | undefined, whole: WorkRef): boolean =>
  part !== undefined &&
  part.phase === whole.phase &&
  (whole.step === undefined || part.step === whole.step) &&
  (whole.subPhase === undefined || part.subPhase === whole.subPhase)

/** Whether an iteration works on it or on a part of it. */
export const isWorkLive = ({ live }: Sprint, ref: WorkRef): boolean => live.some(({ work }) => isPartOfWork(work, ref))

/** Points `current` at the first unfinished work; at the end it stays where it was. */
export function updateCurrent(sprint: Sprint): Sprint {
  const phases = listPhases(sprint)
  const phase = findFirstOpen(phases)
  if (phase === undefined) return sprint
  const { steps = [] } = phases[phase] ?? {}
  const step = findFirstOpen(steps)
  const subPhase = step === undefined ? undefined : findFirstOpen(steps[step]?.phases ?? [])
  return setPhasesState(sprint, { current: { phase, step: step ?? null, subPhase: subPhase ?? null } })
}
