import { stepId } from '../../../contract/ids.ts'
import type { Step } from '../../../contract/progress.ts'
import { setStats, type Sprint } from '../../core/sprint.ts'
import type { EditContext, StepEdit } from '../../core/way.ts'
import { getGoal, setGoal } from './goal-state.ts'
import { isFreeStepId, nextStepNumber } from './step-ids.ts'

/** Applies an outside edit to the steps as a three-way merge: it says what changed, and the sprint may have moved on since. */
export function editStep(sprint: Sprint, edit: StepEdit, { at, iteration }: EditContext): Sprint {
  const { dynamicSteps: steps } = getGoal(sprint)
  const { stats } = sprint
  switch (edit.kind) {
    case 'step-added': {
      const { totalSteps } = stats
      const next = nextStepNumber(steps, totalSteps)
      const id = edit.id !== undefined && isFreeStepId(edit.id, steps, next) ? edit.id : stepId(next)
      const step: Step = { id, prompt: edit.prompt, status: 'pending', addedAt: at, addedInIteration: iteration }
      const added = setGoal(setStats(sprint, { totalSteps: totalSteps + 1 }), { dynamicSteps: [...steps, step] })
      return edit.completed === true ? editStep(added, { kind: 'step-completed', id }, { at, iteration }) : added
    }
    case 'step-completed': {
      const step = steps.find(({ id, status }) => id === edit.id && status === 'pending')
      if (!step) return sprint
      const done: Step = { ...step, status: 'completed', completedAt: at, completedInIteration: iteration }
      const others = steps.filter((other) => other !== step)
      return setGoal(setStats(sprint, { completedSteps: stats.completedSteps + 1 }), {
        dynamicSteps: [...others.filter((other) => !isPendingStep(other)), done, ...others.filter(isPendingStep)],
      })
    }
    case 'step-reworded':
      return setGoal(sprint, {
        dynamicSteps: steps.map((step) =>
          step.id === edit.id && step.status === 'pending' ? { ...step, prompt: edit.prompt } : step,
        ),
      })
    case 'steps-ordered':
      return setGoal(sprint, { dynamicSteps: orderPendingSteps(steps, edit.ids) })
  }
}

/** Sorts pending steps by the given ids; steps that are not listed stay behind them. */
function orderPendingSteps(steps: readonly Step[], ids: readonly string[]): Step[] {
  const place = new Map(ids.map((id, index) => [id, index]))
  const rank = ({ id }: Step) => place.get(id) ?? ids.length
  const pending = steps.filter(isPendingStep)
  return [...steps.filter((step) => !isPendingStep(step)), ...pending.toSorted((a, b) => rank(a) - rank(b))]
}

const isPendingStep = ({ status }: Step): boolean => status === 'pending'
