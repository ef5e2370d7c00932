import { RalphError } from '../../../contract/errors.ts'
import type { Sprint, StepsState } from '../../core/sprint.ts'

export function getGoal({ id, way }: Sprint): StepsState {
  if (way.concurrent) throw new RalphError('INTERNAL', `sprint ${id} has phases, not a goal`)
  return way
}

export const setGoal = (sprint: Sprint, change: Partial<Pick<StepsState, 'ralph' | 'dynamicSteps'>>): Sprint => ({
  ...sprint,
  way: { ...getGoal(sprint), ...change },
})
