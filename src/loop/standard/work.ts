import { RalphError } from '../../contract/errors.ts'
import type { CompiledPhase, CompiledStep, CompiledSubPhase, WorkRef } from '../../contract/phases.ts'
import type { Progress } from '../../contract/progress.ts'

/** What an agent is asked to do, or a phase whose items are. */
export type Work = CompiledPhase | CompiledSubPhase

/** Every phase, item and sub-phase has these. */
type Unit = CompiledPhase | CompiledStep | CompiledSubPhase

export function phaseAt({ phases = [] }: Progress, id: string): CompiledPhase {
  const phase = phases.find((candidate) => candidate.id === id)
  if (!phase) throw new RalphError('INTERNAL', `there is no phase ${id}`)
  return phase
}

export function stepAt(progress: Progress, ref: WorkRef): CompiledStep {
  const step = phaseAt(progress, ref.phase).steps?.find(({ id }) => id === ref.step)
  if (!step) throw new RalphError('INTERNAL', `there is no ${nameOf(ref)}`)
  return step
}

export function workAt(progress: Progress, ref: WorkRef): Work {
  if (ref.step === undefined) return phaseAt(progress, ref.phase)
  const subPhase = stepAt(progress, ref).phases.find(({ id }) => id === ref.subPhase)
  if (!subPhase) throw new RalphError('INTERNAL', `there is no ${nameOf(ref)}`)
  return subPhase
}

/** The same sprint with another phase in the place of the one of that id. */
export const withPhase = (
  progress: Progress,
  id: string,
  change: (phase: CompiledPhase) => CompiledPhase,
): Progress => ({
  ...progress,
  phases: replaced(progress.phases ?? [], id, change),
})

export const withStep = (
  progress: Progress,
  ref: Required<Pick<WorkRef, 'phase'>> & Pick<WorkRef, 'step'>,
  change: (step: CompiledStep) => CompiledStep,
): Progress =>
  withPhase(progress, ref.phase, (phase) => ({ ...phase, steps: replaced(phase.steps ?? [], ref.step, change) }))

/** What work and phases have in common is changed in the same way. */
export function withWork(progress: Progress, ref: WorkRef, change: <W extends Work>(work: W) => W): Progress {
  if (ref.step === undefined) return withPhase(progress, ref.phase, change)
  return withStep(progress, ref, (step) => ({ ...step, phases: replaced(step.phases, ref.subPhase, change) }))
}

const replaced = <U extends Unit>(units: readonly U[], id: string | undefined, change: (unit: U) => U): U[] =>
  units.map((unit) => (unit.id === id ? change(unit) : unit))

/** How people call it. */
export const nameOf = ({ phase, step, subPhase }: WorkRef): string =>
  [phase, step, subPhase].filter((id) => id !== undefined).join('/')

/** Whether the first is the second, or a part of it. */
export const isWithin = (part: WorkRef | undefined, whole: WorkRef): boolean =>
  part !== undefined &&
  part.phase === whole.phase &&
  (whole.step === undefined || part.step === whole.step) &&
  (whole.subPhase === undefined || part.subPhase === whole.subPhase)

/** An iteration is under way for it, or for a part of it. */
export const isLive = ({ live }: Progress, ref: WorkRef): boolean => live.some(({ work }) => isWithin(work, ref))

/** Nobody has to do anything about it any more. */
export const isOver = ({ status }: Unit): boolean => status === 'completed' || status === 'skipped'

/** `current` shows the first work that is not over; at the end it stays where it was. */
export function withCurrent(progress: Progress): Progress {
  const { phases = [] } = progress
  const phase = phases.findIndex((candidate) => !isOver(candidate))
  if (phase === -1) return progress
  const step = firstOpen(phases[phase]?.steps)
  const subPhase = step === null ? null : firstOpen(phases[phase]?.steps?.[step]?.phases)
  return { ...progress, current: { phase, step, subPhase } }
}

function firstOpen(units: readonly Unit[] | undefined): number | null {
  const index = units?.findIndex((unit) => !isOver(unit)) ?? -1
  return index === -1 ? null : index
}
