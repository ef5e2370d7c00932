import { RalphError } from '../../../contract/errors.ts'
import type { CompiledPhase, CompiledStep, CompiledSubPhase, WorkRef } from '../../../contract/phases.ts'
import type { Progress } from '../../../contract/progress.ts'
import { findFirstOpen, replaceUnit, findUnit } from './units.ts'

/** Something that an agent is asked to do, or a phase whose items are. */
export type PhaseWork = CompiledPhase | CompiledSubPhase

export function getPhase({ phases = [] }: Progress, id: string): CompiledPhase {
  const phase = findUnit(phases, id)
  if (!phase) throw new RalphError('INTERNAL', `there is no phase ${id}`)
  return phase
}

export function getStep(progress: Progress, ref: WorkRef): CompiledStep {
  const step = findUnit(getPhase(progress, ref.phase).steps ?? [], ref.step)
  if (!step) throw new RalphError('INTERNAL', `there is no ${formatWorkRef(ref)}`)
  return step
}

export function getWork(progress: Progress, ref: WorkRef): PhaseWork {
  if (ref.step === undefined) return getPhase(progress, ref.phase)
  const subPhase = findUnit(getStep(progress, ref).phases, ref.subPhase)
  if (!subPhase) throw new RalphError('INTERNAL', `there is no ${formatWorkRef(ref)}`)
  return subPhase
}

/** Returns the progress with one phase changed. */
export const updatePhase = (
  progress: Progress,
  id: string,
  change: (phase: CompiledPhase) => CompiledPhase,
): Progress => ({
  ...progress,
  phases: replaceUnit(progress.phases ?? [], id, change),
})

export const updateStep = (
  progress: Progress,
  ref: Required<Pick<WorkRef, 'phase'>> & Pick<WorkRef, 'step'>,
  change: (step: CompiledStep) => CompiledStep,
): Progress =>
  updatePhase(progress, ref.phase, (phase) => ({ ...phase, steps: replaceUnit(phase.steps ?? [], ref.step, change) }))

/** Applies the same change to a phase or a part. */
export function updateWork(progress: Progress, ref: WorkRef, change: <W extends PhaseWork>(work: W) => W): Progress {
  if (ref.step === undefined) return updatePhase(progress, ref.phase, change)
  return updateStep(progress, ref, (step) => ({ ...step, phases: replaceUnit(step.phases, ref.subPhase, change) }))
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
export const isWorkLive = ({ live }: Progress, ref: WorkRef): boolean =>
  live.some(({ work }) => isPartOfWork(work, ref))

/** Points `current` at the first unfinished work; at the end it stays where it was. */
export function updateCurrent(progress: Progress): Progress {
  const { phases = [] } = progress
  const phase = findFirstOpen(phases)
  if (phase === undefined) return progress
  const { steps = [] } = phases[phase] ?? {}
  const step = findFirstOpen(steps)
  const subPhase = step === undefined ? undefined : findFirstOpen(steps[step]?.phases ?? [])
  return { ...progress, current: { phase, step: step ?? null, subPhase: subPhase ?? null } }
}
