import { RalphError } from '../../../contract/errors.ts'
import type { ClassicState, GoalState, NotesState, Sprint } from '../../core/sprint.ts'

export function getGoal({ id, way }: Sprint): ClassicState | GoalState | NotesState {
  if (way.concurrent) throw new RalphError('INTERNAL', `sprint ${id} has phases, not a goal`)
  return way
}

export const setGoal = (sprint: Sprint, change: Partial<Pick<GoalState, 'ralph' | 'dynamicSteps'>>): Sprint => ({
  ...sprint,
  way: { ...getGoal(sprint), ...change },
})
