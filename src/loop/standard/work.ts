import { RalphError } from '../../contract/errors.ts'
import type { CompiledPhase, CompiledStep, CompiledSubPhase, WorkRef } from '../../contract/phases.ts'
import type { Progress } from '../../contract/progress.ts'
import { firstOpenIn, replaceIn, unitIn } from './units.ts'

/** Something that an agent is asked to do, or a phase whose items are. */
export type Work = CompiledPhase | CompiledSubPhase

export function phaseAt({ phases = [] }: Progress, id: string): CompiledPhase {
  const phase = unitIn(phases, id)
  if (!phase) throw new RalphError('INTERNAL', `there is no phase ${id}`)
  return phase
}

export function stepAt(progress: Progress, ref: WorkRef): CompiledStep {
  const step = unitIn(phaseAt(progress, ref.phase).steps ?? [], ref.step)
  if (!step) throw new RalphError('INTERNAL', `there is no ${nameOf(ref)}`)
  return step
}

export function workAt(progress: Progress, ref: WorkRef): Work {
  if (ref.step === undefined) return phaseAt(progress, ref.phase)
  const subPhase = unitIn(stepAt(progress, ref).phases, ref.subPhase)
  if (!subPhase) throw new RalphError('INTERNAL', `there is no ${nameOf(ref)}`)
  return subPhase
}

/** Returns the progress with one phase changed. */
export const withPhase = (
  progress: Progress,
  id: string,
  change: (phase: CompiledPhase) => CompiledPhase,
): Progress => ({
  ...progress,
  phases: replaceIn(progress.phases ?? [], id, change),
})

export const withStep = (
  progress: Progress,
  ref: Required<Pick<WorkRef, 'phase'>> & Pick<WorkRef, 'step'>,
  change: (step: CompiledStep) => CompiledStep,
): Progress =>
  withPhase(progress, ref.phase, (phase) => ({ ...phase, steps: replaceIn(phase.steps ?? [], ref.step, change) }))

/** Applies the same change to a phase or a part. */
export function withWork(progress: Progress, ref: WorkRef, change: <W extends Work>(work: W) => W): Progress {
  if (ref.step === undefined) return withPhase(progress, ref.phase, change)
  return withStep(progress, ref, (step) => ({ ...step, phases: replaceIn(step.phases, ref.subPhase, change) }))
}

/** Display name of a piece of work. */
export const nameOf = ({ phase, step, subPhase }: WorkRef): string =>
  [phase, step, subPhase].filter((id) => id !== undefined).join('/')

/** Whether `part` equals `whole` or belongs to it. */
const isWithin = (part: WorkRef | undefined, whole: WorkRef): boolean =>
  part !== undefined &&
  part.phase === whole.phase &&
  (whole.step === undefined || part.step === whole.step) &&
  (whole.subPhase === undefined || part.subPhase === whole.subPhase)

/** Whether an iteration works on it or on a part of it. */
export const isLive = ({ live }: Progress, ref: WorkRef): boolean => live.some(({ work }) => isWithin(work, ref))

/** Points `current` at the first unfinished work; at the end it stays where it was. */
export function withCurrent(progress: Progress): Progress {
  const { phases = [] } = progress
  const phase = firstOpenIn(phases)
  if (phase === undefined) return progress
  const { steps = [] } = phases[phase] ?? {}
  const step = firstOpenIn(steps)
  const subPhase = step === undefined ? undefined : firstOpenIn(steps[step]?.phases ?? [])
  return { ...progress, current: { phase, step: step ?? null, subPhase: subPhase ?? null } }
}
