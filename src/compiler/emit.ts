import { noUsage } from '../contract/outcome.ts'
import type { CompiledPhase, CompiledWorktree } from '../contract/phases.ts'
import { type Progress, schemaVersion, type Step, unlimitedIterations } from '../contract/progress.ts'
import type { Hook } from '../contract/settings.ts'
import type { Compilation } from './resolve/compilation.ts'
import { omitUndefined } from './resolve/omit-undefined.ts'
import type { Expansion } from './expand/expand.ts'

export type EmitInput = {
  readonly hooks: readonly Hook[]
  readonly worktree: CompiledWorktree | undefined
  /** Only for a goal-driven sprint. */
  readonly steps: readonly Step[]
  /** Only for a sprint with phases. */
  readonly expansion: Expansion | undefined
}

/** Builds the state of a sprint that has not started. */
export function emitProgress(compilation: Compilation, { hooks, worktree, steps, expansion }: EmitInput): Progress {
  const { sprint, main, settings, sprintId } = compilation
  const { name, owner, created } = sprint.value
  const { goalPrompt, reflectionPrompt, protocol, report } = main.value
  const { proof, frozen, mayChange, room, seal, keep, sandbox, cell, network } = settings
  const { ralph, limits, timeouts, agent, model, doneWhen, review, checkpoint, env, notify, prices } = settings
  const progress = createNewProgress({
    sprintId,
    workflow: sprint.value.workflow,
    mode: main.value.mode ?? 'standard',
    goal: sprint.value.goal ?? '',
    ralph: { ...ralph, ...omitUndefined({ goalPrompt, reflectionPrompt }), idleCount: 0 },
    limits,
    timeouts,
  })
  return {
    ...progress,
    ...omitUndefined({ name, owner, created }),
    ...(protocol !== 'report' && omitUndefined({ protocol })),
    ...(report === 'optional' && expansion && { report }),
    ...omitUndefined({ proof, frozen, mayChange, room, seal, keep, sandbox, cell, network }),
    ...omitUndefined({ agent, model, doneWhen, review, checkpoint, env, notify, prices, worktree }),
    ...(expansion && emitPhases(compilation, expansion)),
    perIterationHooks: [...hooks],
    dynamicSteps: [...steps],
    stats: {
      ...progress.stats,
      ...(expansion ? countPhases(expansion.phases) : { totalSteps: steps.length }),
    },
  }
}

function emitPhases({ settings }: Compilation, { phases, graphs }: Expansion): Partial<Progress> {
  const { retry, prompts, parallelExecution } = settings
  const first = phases[0]?.steps?.length ? 0 : null
  return {
    phases: [...phases],
    ...(graphs.length > 0 && { dependencyGraph: [...graphs] }),
    ...(phases.some(({ parallel, steps }) => parallel === true && steps !== undefined) && {
      parallelExecution: parallelExecution?.enabled === true ? parallelExecution : defaultParallel,
    }),
    ...omitUndefined({ retry, prompts }),
    current: { phase: 0, step: first, subPhase: first },
  }
}

/** For a phase with `parallel: true` of its own. */
const defaultParallel = { enabled: true, maxConcurrency: 4, onDependencyFailure: 'skip-dependents' } as const

function countPhases(phases: readonly CompiledPhase[]) {
  const steps = phases.flatMap((phase) => phase.steps ?? [])
  const subPhases = steps.reduce((sum, step) => sum + step.phases.length, 0)
  return { totalSteps: steps.length, totalPhases: phases.length + subPhases, completedPhases: 0 }
}

type Plan = Pick<Progress, 'sprintId' | 'workflow' | 'mode' | 'goal' | 'ralph' | 'limits' | 'timeouts'>

/** A sprint that has not started, without steps and hooks. */
export const createNewProgress = (plan: Plan): Progress => ({
  ...plan,
  schemaVersion,
  rev: 0,
  status: 'not-started',
  perIterationHooks: [],
  dynamicSteps: [],
  live: [],
  iterations: [],
  hookTasks: [],
  ralphExit: { detectedAt: null, iteration: null, finalSummary: null },
  stats: {
    startedAt: null,
    completedAt: null,
    currentIteration: 0,
    maxIterations: plan.limits.iterations === 'off' ? unlimitedIterations : plan.limits.iterations,
    totalSteps: 0,
    completedSteps: 0,
    costUsd: 0,
    usage: noUsage,
    activeMs: 0,
    withoutProgress: 0,
  },
})
