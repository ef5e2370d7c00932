import { stepId } from '../contract/ids.ts'
import { noUsage } from '../contract/outcome.ts'
import { type Progress, schemaVersion, type Step, unlimitedIterations } from '../contract/progress.ts'
import type { Hook } from '../contract/settings.ts'
import type { Sprint } from '../contract/sprint.ts'
import type { Workflow } from '../contract/workflow.ts'
import { defined } from './defined.ts'
import type { MergedSettings } from './merge-settings.ts'

export type Plan = {
  readonly sprint: Sprint
  readonly workflow: Workflow
  readonly settings: MergedSettings
  readonly hooks: readonly Hook[]
  readonly sprintId: string
  readonly at: number
}

/** The state of a sprint that has not begun. */
export function emit(plan: Plan): Progress {
  const { sprint, workflow, settings, sprintId } = plan
  const dynamicSteps = givenSteps(plan)
  const { goalPrompt, reflectionPrompt } = workflow
  const { name, owner, created } = sprint
  const { agent, model, doneWhen, env } = settings
  return {
    schemaVersion,
    rev: 0,
    sprintId,
    ...defined({ name, owner, created }),
    workflow: sprint.workflow,
    status: 'not-started',
    mode: 'ralph',
    goal: sprint.goal ?? '',
    ralph: {
      idleThreshold: settings.ralph.idleThreshold,
      minIterations: settings.ralph.minIterations,
      ...defined({ goalPrompt, reflectionPrompt }),
      idleCount: 0,
    },
    ...defined({ agent, model, doneWhen, env }),
    limits: settings.limits,
    timeouts: settings.timeouts,
    perIterationHooks: [...plan.hooks],
    dynamicSteps,
    live: [],
    iterations: [],
    hookTasks: [],
    ralphExit: { detectedAt: null, iteration: null, finalSummary: null },
    stats: freshStats(settings, dynamicSteps.length),
  }
}

function givenSteps({ sprint, at }: Plan): Step[] {
  return (sprint.steps ?? []).map((step, index) => ({
    id: stepId(index),
    prompt: typeof step === 'string' ? step : step.prompt,
    status: 'pending',
    addedAt: at,
    addedInIteration: 0,
  }))
}

function freshStats({ limits }: MergedSettings, totalSteps: number): Progress['stats'] {
  return {
    startedAt: null,
    completedAt: null,
    currentIteration: 0,
    maxIterations: limits.iterations === 'off' ? unlimitedIterations : limits.iterations,
    totalSteps,
    completedSteps: 0,
    costUsd: 0,
    usage: noUsage,
    activeMs: 0,
  }
}
