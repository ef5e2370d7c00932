import { clipText } from '../../../contract/text.ts'
import { historyLimits, type Step } from '../../../contract/progress.ts'
import { stepId } from '../../../contract/ids.ts'
import { maxNewSteps, type Report } from '../../../contract/report.ts'
import { setStats, type Sprint } from '../../core/sprint.ts'
import { getGoal, setGoal } from './goal-state.ts'
import { nextStepNumber } from './step-ids.ts'

type StepChange = {
  readonly sprint: Sprint
  readonly added: readonly string[]
  readonly completed: readonly string[]
  /** Number of pending steps now. */
  readonly pending: number
  /** Parts of the report that were dropped, and why. */
  readonly rejected: readonly string[]
}

const maxReasons = 20

/**
 * Index of the first pending step; all completed ones precede it. Uses bisection, because every iteration asks several times
 * and scanning ten thousand steps takes longer than everything else in it.
 */
export function findFirstPending(steps: readonly Step[]): number {
  let from = 0
  let to = steps.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (steps[middle]?.status === 'pending') to = middle
    else from = middle + 1
  }
  return from
}

type StepMoment = { readonly at: number; readonly iteration: number }

/**
 * Applies what a report says about steps. Only pending steps can be completed, reworded or reordered; references to anything
 * else are dropped and recorded, and the rest applies. Steps that are not mentioned stay pending, behind the mentioned ones.
 */
export function applySteps(sprint: Sprint, report: Report, moment: StepMoment): StepChange {
  const rejected: string[] = []
  const { dynamicSteps: steps } = getGoal(sprint)
  const { stats } = sprint
  const { done, pending, others } = partitionSteps(steps, report)
  const left = others.reduce((sum, part) => sum + part.length, 0)
  const completed = completeSteps(pending, report, moment, rejected)
  const added: Step[] = []
  const mentioned: Step[] = []
  const next = report.pendingSteps.some(({ id }) => id === null) ? nextStepNumber(steps, stats.totalSteps) : 0
  let tooMany = false
  for (const { id, prompt } of report.pendingSteps) {
    if (id === null) {
      if (added.length === maxNewSteps) {
        tooMany = true
        continue
      }
      const step = createStep(next + added.length, prompt, moment)
      added.push(step)
      mentioned.push(step)
      continue
    }
    const known = pending.get(id)
    if (!known) {
      rejected.push(`pendingSteps names ${clipId(id)}${explainRejection(id, completed, mentioned)}`)
      continue
    }
    pending.delete(id)
    mentioned.push(known.prompt === prompt ? known : { ...known, prompt })
  }
  if (tooMany) rejected.push(`more than ${maxNewSteps} new steps in one report; the rest was dropped`)
  const counted = setStats(sprint, {
    totalSteps: stats.totalSteps + added.length,
    completedSteps: stats.completedSteps + completed.length,
  })
  const dynamicSteps =
    completed.length + mentioned.length === 0
      ? steps
      : done
          .concat(completed)
          .slice(-historyLimits.completedSteps)
          .concat(mentioned, ...others)
  return {
    sprint: setGoal(counted, { dynamicSteps }),
    added: added.map((step) => step.id),
    completed: completed.map((step) => step.id),
    pending: mentioned.length + left,
    rejected: limitReasons(rejected),
  }
}

/**
 * Splits the steps into the completed ones, the pending ones that the report names, and slices of the others. Of possibly ten
 * thousand steps a report names the first few, so the scan ends at the last named one and the rest is copied in bulk.
 */
function partitionSteps(steps: readonly Step[], { completedStepIds, pendingSteps }: Report) {
  const named = new Set([...completedStepIds, ...pendingSteps.flatMap(({ id }) => id ?? [])])
  const begin = findFirstPending(steps)
  const others: Step[][] = []
  const pending = new Map<string, Step>()
  let rest = begin
  for (let n = begin; n < steps.length && pending.size < named.size; n++) {
    const step = steps[n]
    if (!step || !named.has(step.id)) continue
    pending.set(step.id, step)
    others.push(steps.slice(rest, n))
    rest = n + 1
  }
  others.push(steps.slice(rest))
  return { done: steps.slice(0, begin), pending, others }
}

function explainRejection(id: string, completed: readonly Step[], mentioned: readonly Step[]): string {
  if (completed.some((step) => step.id === id)) return ', which is completed'
  return mentioned.some((step) => step.id === id) ? ' twice' : ', which is not pending'
}

function completeSteps(
  pending: Map<string, Step>,
  report: Report,
  { at, iteration }: StepMoment,
  rejected: string[],
): Step[] {
  const completed: Step[] = []
  for (const id of new Set(report.completedStepIds)) {
    const step = pending.get(id)
    if (!step) {
      rejected.push(`completedStepIds names ${clipId(id)}, which is not pending`)
      continue
    }
    pending.delete(id)
    completed.push({ ...step, status: 'completed', completedAt: at, completedInIteration: iteration })
  }
  return completed
}

/** A report can be nonsense of any size; the receipt of its iteration must stay small. */
const limitReasons = (reasons: readonly string[]): readonly string[] =>
  reasons.length <= maxReasons ? reasons : [...reasons.slice(0, maxReasons), `and ${reasons.length - maxReasons} more`]

const clipId = (id: string): string => clipText(id, 100)

const createStep = (number: number, prompt: string, { at, iteration }: StepMoment): Step => ({
  id: stepId(number),
  prompt,
  status: 'pending',
  addedAt: at,
  addedInIteration: iteration,
})
