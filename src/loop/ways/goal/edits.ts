import type { Edit } from '../../../contract/edit.ts'
import { stepId } from '../../../contract/ids.ts'
import type { Progress, Step } from '../../../contract/progress.ts'

type EditMoment = { readonly at: number; readonly iteration: number }

/**
 * Applies outside edits to the steps as a three-way merge: an edit says what changed, and the progress may have moved on since.
 * `pause` is handled as a stop request instead.
 */
export function applyEdits(progress: Progress, edits: readonly Edit[], moment: EditMoment): Progress {
  return edits.reduce((edited, edit) => applyEdit(edited, edit, moment), progress)
}

function applyEdit(progress: Progress, edit: Edit, { at, iteration }: EditMoment): Progress {
  const { dynamicSteps: steps, stats } = progress
  switch (edit.kind) {
    case 'step-added': {
      const { totalSteps } = stats
      const step: Step = {
        id: stepId(totalSteps),
        prompt: edit.prompt,
        status: 'pending',
        addedAt: at,
        addedInIteration: iteration,
      }
      return { ...progress, dynamicSteps: [...steps, step], stats: { ...stats, totalSteps: totalSteps + 1 } }
    }
    case 'step-completed': {
      const step = steps.find(({ id, status }) => id === edit.id && status === 'pending')
      if (!step) return progress
      const done: Step = { ...step, status: 'completed', completedAt: at, completedInIteration: iteration }
      const others = steps.filter((other) => other !== step)
      return {
        ...progress,
        dynamicSteps: [...others.filter((other) => !isPendingStep(other)), done, ...others.filter(isPendingStep)],
        stats: { ...stats, completedSteps: stats.completedSteps + 1 },
      }
    }
    case 'step-reworded':
      return {
        ...progress,
        dynamicSteps: steps.map((step) =>
          step.id === edit.id && step.status === 'pending' ? { ...step, prompt: edit.prompt } : step,
        ),
      }
    case 'steps-ordered':
      return { ...progress, dynamicSteps: orderPendingSteps(steps, edit.ids) }
    case 'pause':
      return progress
    case 'needs-human':
      return { ...progress, humanNeeded: { reason: edit.reason, details: edit.details, askedAt: at } }
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
