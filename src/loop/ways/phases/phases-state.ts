import { RalphError } from '../../../contract/errors.ts'
import type { CompiledPhase } from '../../../contract/phases.ts'
import type { PhasesState, Sprint } from '../../core/sprint.ts'

export function getPhasesState({ id, way }: Sprint): PhasesState {
  if (!way.concurrent) throw new RalphError('INTERNAL', `sprint ${id} has a goal, not phases`)
  return way
}

export const listPhases = (sprint: Sprint): readonly CompiledPhase[] => getPhasesState(sprint).phases ?? []

export const setPhasesState = (sprint: Sprint, change: Partial<Omit<PhasesState, 'concurrent'>>): Sprint => ({
  ...sprint,
  way: { ...getPhasesState(sprint), ...change },
})
