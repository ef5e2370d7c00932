/** The formats of the seed documents under the names that those documents use, with the fields as in the files. */

import type { z } from 'zod'
import type { ErrorCode } from './contract/errors.ts'
import type { ParallelTask as ParallelTaskSchema } from './contract/phases.ts'
import type { Progress } from './contract/progress.ts'
import type { Sprint } from './contract/sprint.ts'
import type { Workflow } from './contract/workflow.ts'
import { compile } from './compiler/compile.ts'
import { isErrorDiagnostic, type Diagnostic } from './compiler/parse/diagnostics.ts'
import { validateWorkflow } from './compiler/validate.ts'

export type PhaseStatus = 'pending' | 'in-progress' | 'completed' | 'failed' | 'blocked' | 'skipped'
export type ParallelTaskStatus = 'running' | 'completed' | 'failed'

export interface PerIterationHook {
  readonly id: string
  /** `plugin:command`, or the name of a workflow in .claude/workflows. */
  readonly workflow?: string
  readonly prompt?: string
  readonly run?: string
  /** If the agent program does not have the command of `workflow`. */
  readonly 'fallback-prompt'?: string
  /** true: the next iteration does not wait for it. */
  readonly parallel: boolean
  readonly enabled: boolean
  readonly 'on-fail'?: 'record' | 'feed-back' | 'block'
  readonly timeout?: string
}

export interface DynamicStep {
  readonly id: string
  readonly prompt: string
  /** Ralph writes `pending` and `completed`. */
  readonly status: PhaseStatus
  readonly 'added-at': string
  readonly 'added-in-iteration': number
  readonly 'completed-at'?: string
  readonly 'completed-in-iteration'?: number
}

export interface HookTask {
  readonly iteration: number
  readonly 'hook-id': string
  readonly status: ParallelTaskStatus
  /** While it runs. */
  readonly pid?: number | null
  readonly transcript?: string
  readonly 'spawned-at'?: string
  readonly 'completed-at'?: string
  readonly 'exit-code'?: number | null
  readonly error?: string
  readonly 'cost-usd'?: number | null
}

export interface RalphConfig {
  /** Iterations without pending steps before the agent reflects. */
  readonly 'idle-threshold'?: number
  /** First iteration that may claim the goal. */
  readonly 'min-iterations'?: number
}

/** All null until the goal is reached. */
export interface RalphExitInfo {
  readonly 'detected-at'?: string | null
  readonly iteration?: number | null
  readonly 'final-summary'?: string | null
}

/** A file in .claude/workflows. */
export type WorkflowDefinition = z.input<typeof Workflow>

/** SPRINT.yaml. */
export type SprintDefinition = z.input<typeof Sprint>

/** Position by index, from 0: in ralph mode `step` is the next pending one of `dynamic-steps`. */
export type CurrentPointer = NonNullable<z.input<typeof Progress>['current']>

/** A phase or an item with `parallel: true` that has started. */
export type ParallelTask = z.input<typeof ParallelTaskSchema>

/** PROGRESS.yaml. */
export type CompiledProgress = z.input<typeof Progress> & {
  readonly current: CurrentPointer
  readonly 'parallel-tasks': readonly ParallelTask[]
}

export interface CompilerError {
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string
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
