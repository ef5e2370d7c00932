/** The formats of the seed documents under the names that those documents use, with the fields as in the files. */

import type { z } from 'zod'
import type { ErrorCode } from './contract/errors.ts'
import type { CompiledPhase, ParallelTask as ParallelTaskSchema, Phase } from './contract/phases.ts'
import type { Progress } from './contract/progress.ts'
import type { Sprint } from './contract/sprint.ts'
import type { Workflow } from './contract/workflow.ts'
import { compile } from './compiler/compile.ts'
import { isErrorDiagnostic, type Diagnostic } from './compiler/parse/diagnostics.ts'
import { validateWorkflow } from './compiler/validate.ts'

export type PhaseStatus = 'pending' | 'in-progress' | 'completed' | 'failed' | 'blocked' | 'skipped'
export type ParallelTaskStatus = 'running' | 'completed' | 'failed'

// Fields are not readonly, as in the seed: the objects belong to the caller.

export interface PerIterationHook {
  id: string
  /** `plugin:command`, or the name of a workflow in .claude/workflows. */
  workflow?: string
  prompt?: string
  run?: string
  /** If the agent program does not have the command of `workflow`. */
  'fallback-prompt'?: string
  /** true: the next iteration does not wait for it. */
  parallel: boolean
  enabled: boolean
  'on-fail'?: 'record' | 'feed-back' | 'block'
  timeout?: string
}

export interface DynamicStep {
  id: string
  prompt: string
  /** Ralph writes `pending` and `completed`. */
  status: PhaseStatus
  'added-at': string
  'added-in-iteration': number
  'completed-at'?: string
  'completed-in-iteration'?: number
}

export interface HookTask {
  iteration: number
  'hook-id': string
  status: ParallelTaskStatus
  /** While it runs. */
  pid?: number | null
  transcript?: string
  'spawned-at'?: string
  'completed-at'?: string
  'exit-code'?: number | null
  error?: string
  'cost-usd'?: number | null
}

export interface RalphConfig {
  /** Iterations without pending steps before the agent reflects. */
  'idle-threshold'?: number
  /** First iteration that may claim the goal. */
  'min-iterations'?: number
}

/** All null until the goal is reached. */
export interface RalphExitInfo {
  'detected-at'?: string | null
  iteration?: number | null
  'final-summary'?: string | null
}

/** A file in .claude/workflows. */
export type WorkflowDefinition = z.input<typeof Workflow>

/** A phase of a workflow. */
export type WorkflowPhase = z.input<typeof Phase>

/** SPRINT.yaml. */
export type SprintDefinition = z.input<typeof Sprint>

/** A step of SPRINT.yaml: its text, or a map with `prompt`. */
export type SprintStep = NonNullable<SprintDefinition['steps']>[number]

/** Position by index, from 0: in ralph mode `step` is the next pending one of `dynamic-steps`. */
export type CurrentPointer = NonNullable<ProgressFile['current']>

/** A phase or an item with `parallel: true` that has started. */
export type ParallelTask = z.input<typeof ParallelTaskSchema>

/** A phase in PROGRESS.yaml, with its own prompt or with steps. */
export type CompiledTopPhase = z.input<typeof CompiledPhase>

export type SprintStats = Partial<ProgressFile['stats']>

type ProgressFile = z.input<typeof Progress>

/** PROGRESS.yaml: the fields of the seed, and those that Ralph adds. */
export interface CompiledProgress extends Partial<Omit<ProgressFile, keyof SeedProgress>>, SeedProgress {}

interface SeedProgress {
  'sprint-id': string
  status: ProgressFile['status']
  /** Absent in ralph mode. */
  phases?: CompiledTopPhase[]
  current: CurrentPointer
  stats: SprintStats
  'parallel-tasks'?: ParallelTask[]
  mode?: 'standard' | 'ralph'
  goal?: string
  'dynamic-steps'?: DynamicStep[]
  'hook-tasks'?: HookTask[]
  'per-iteration-hooks'?: PerIterationHook[]
  ralph?: RalphConfig
  'ralph-exit'?: RalphExitInfo
}

export interface CompilerError {
  code: ErrorCode
  message: string
  hint?: string
  /** `file:line:column`, for files. */
  path?: string
}

/** Applies the overrides of SPRINT.yaml to the hooks of a workflow; ids without a hook are ignored. */
export function mergePerIterationHooks<H extends { readonly id: string }, O extends object>(
  workflowHooks: readonly H[],
  sprintOverrides: Readonly<Record<string, O>> | undefined,
): (H | (H & O))[] {
  return workflowHooks.map((hook) => {
    const override = Object.hasOwn(sprintOverrides ?? {}, hook.id) ? sprintOverrides?.[hook.id] : undefined
    return override ? { ...hook, ...override, id: hook.id } : hook
  })
}

/** Returns the errors of a workflow; an empty list means that it is valid. Referenced workflows are not read. */
export function validateWorkflowDefinition(workflow: unknown, name: string): CompilerError[] {
  const text = toYaml(workflow)
  if (text === undefined) return [notPlainData('INVALID_WORKFLOW')]
  return toErrors(validateWorkflow({ file: `${name}.yaml`, text }).diagnostics)
}

/** Returns the errors of a SPRINT.yaml. Without its workflow, only what holds for every workflow is checked. */
export function validateSprintDefinition(sprint: unknown, workflow?: WorkflowDefinition): CompilerError[] {
  const text = toYaml(sprint)
  const workflowText = workflow && toYaml(workflow)
  if (text === undefined) return [notPlainData('INVALID_SPRINT')]
  const { diagnostics } = compile({
    sprint: { file: 'SPRINT.yaml', text },
    readWorkflow: () => (workflowText === undefined ? undefined : { file: 'workflow.yaml', text: workflowText }),
    defaultSprintId: 'sprint',
    at: 0,
  })
  const isKnown = ({ code }: Diagnostic) => workflow !== undefined || code !== 'MAIN_WORKFLOW_NOT_FOUND'
  return toErrors(diagnostics.filter(isKnown))
}

/** Returns the errors of one hook; messages name its index. */
export function validatePerIterationHook(hook: unknown, index: number): CompilerError[] {
  const workflow = { name: 'hook', mode: 'ralph', 'per-iteration-hooks': [hook] }
  return validateWorkflowDefinition(workflow, 'hook').map((error) => ({
    ...error,
    message: `per-iteration-hooks[${index}]: ${error.message}`,
  }))
}

/** JSON is YAML. Returns undefined for what no file can hold, such as a cycle. */
function toYaml(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return undefined
  }
}

const notPlainData = (code: ErrorCode): CompilerError => ({ code, message: 'must be plain data, as in a YAML file' })

const toErrors = (diagnostics: readonly Diagnostic[]): CompilerError[] =>
  diagnostics
    .filter(isErrorDiagnostic)
    .map(({ code, message, hint }) => ({ code, message, ...(hint !== undefined && { hint }) }))
