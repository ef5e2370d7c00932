/** The interfaces of seed 004, lines 115 to 229, word for word without their comments and unchanged fields. */

import type { CurrentPointer, ParallelTask, ParallelTaskStatus, PhaseStatus } from 'ralph-mode'

export interface PerIterationHook {
  id: string
  workflow?: string
  prompt?: string
  parallel: boolean
  enabled: boolean
}
export interface DynamicStep {
  id: string
  prompt: string
  status: PhaseStatus
  'added-at': string
  'added-in-iteration': number
}
export interface HookTask {
  iteration: number
  'hook-id': string
  status: ParallelTaskStatus
  /** Seed 000:157 writes null once it has ended. */
  pid?: number | null | undefined
  transcript?: string | undefined
}
/** Seed 000:169-172 writes null until the end. */
export interface RalphExitInfo {
  'detected-at'?: string | null
  iteration?: number | null
  'final-summary'?: string | null
}
export interface RalphConfig {
  'idle-threshold'?: number
}
export interface WorkflowDefinition {
  name: string
  description?: string
  mode?: 'standard' | 'ralph'
  'goal-prompt'?: string
  'reflection-prompt'?: string
  'per-iteration-hooks'?: PerIterationHook[]
}
export interface SprintDefinition {
  workflow: string
  'sprint-id'?: string
  name?: string
  goal?: string
  'per-iteration-hooks'?: Record<string, { enabled: boolean }>
}
export interface CompiledProgress {
  'sprint-id': string
  status: string
  current: CurrentPointer
  'parallel-tasks'?: readonly ParallelTask[]
  mode?: 'standard' | 'ralph'
  goal?: string
  'dynamic-steps'?: readonly DynamicStep[]
  'hook-tasks'?: readonly HookTask[]
  'per-iteration-hooks'?: readonly { id: string; workflow?: string | undefined; prompt?: string | undefined }[]
  ralph?: RalphConfig
  'ralph-exit'?: RalphExitInfo
}
