/** The interfaces of seed 004, lines 115 to 208, word for word without their comments and unchanged fields. */

import type { PhaseStatus } from 'ralph-mode'

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
