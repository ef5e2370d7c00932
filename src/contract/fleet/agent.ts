import { z } from 'zod'
import { SprintStatus, Verdict } from '../progress.ts'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'
import { AccessLevel } from './user.ts'

/** The agent's activity. Whether its machine is reachable is tracked separately. */
export const AgentState = z.enum(['creating', 'idle', 'running', 'archived', 'failed'])
export type AgentState = z.infer<typeof AgentState>

/** The folder an agent works in. */
export const AgentWorkspace = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('folder'), path: z.string() }),
  z.object({
    kind: z.literal('clone'),
    repository: z.string(),
    branch: z.string().optional(),
    push: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe(
        'Where to push files and notes after each turn: `origin` or an address. If the machine is lost, another one continues from there',
      ),
  }),
  z.object({ kind: z.literal('worktree'), path: z.string(), branch: z.string() }),
])
export type AgentWorkspace = z.output<typeof AgentWorkspace>

export const Agent = z.object({
  id: Uuid,
  name: z.string(),
  machineId: Uuid,
  workspace: AgentWorkspace,
  /** The agent program: `claude`, `codex`, `command:…` */
  program: z.string(),
  model: z.string().optional(),
  state: AgentState,
  /** Explains the state where the state alone is not enough. */
  reason: z.string().optional(),
  inRalphMode: z.boolean(),
  ralphModeTaskDescription: z.string().nullable(),
  ralphModeLastPromptAt: Timestamp.nullable(),
  /** The current sprint, or the last one. */
  sprintId: Uuid.optional(),
  createdAt: Timestamp,
  archivedAt: Timestamp.optional(),
})
export type Agent = z.output<typeof Agent>

/** Summary of an agent's sprint that fits into a row. */
export const SprintGlance = z.object({
  id: Uuid,
  status: SprintStatus,
  goal: z.string(),
  mode: z.string().optional(),
  stage: z.string().optional(),
  iteration: z.int(),
  maxIterations: z.int().optional(),
  /** The last 20 iterations. */
  verdicts: z.array(
    z.object({
      number: z.int(),
      verdict: Verdict.optional(),
      changed: z.boolean().optional(),
      mode: z.literal('planning').optional(),
    }),
  ),
  checks: z
    .object({
      green: z.int(),
      all: z.int(),
      baseline: z.boolean().optional().describe('They have only run before the first iteration'),
    })
    .optional(),
  spentUsd: z.number().nullable(),
  capUsd: z.number().optional(),
  parked: z.object({ reason: z.string(), until: Timestamp }).optional(),
  /** The open question of the agent that has waited longest, in one sentence; it may belong to an earlier sprint. */
  question: z.object({ id: Uuid, reason: z.string(), askedAt: Timestamp }).optional(),
  reason: z.string().optional(),
  doubt: z.enum(['unchecked', 'unproven']).optional().describe('What is missing from a goal that was reached'),
  diff: z.object({ added: z.int(), removed: z.int() }).optional(),
  branch: z.string().optional(),
  updatedAt: Timestamp,
})
export type SprintGlance = z.output<typeof SprintGlance>

/** A row of the fleet: the agent, its machine, its sprint. */
export const FleetRow = z.object({
  agent: Agent,
  machine: z.object({ id: Uuid, name: z.string(), reachable: z.boolean(), lastSeenAt: Timestamp.optional() }),
  sprint: SprintGlance.optional(),
  queued: z.int(),
  waits: z.string().optional().describe('Why queued prompts are not started, if the machine is the reason'),
  lastEventAt: Timestamp.optional(),
  /** The caller's access level. */
  access: AccessLevel,
})
export type FleetRow = z.output<typeof FleetRow>

/** A conversation that was archived by a reset. */
export const Conversation = z.object({
  id: z.string(),
  agentId: Uuid,
  sprintId: Uuid.optional(),
  iteration: z.int().optional(),
  startedAt: Timestamp,
  endedAt: Timestamp,
  messages: z.int(),
})
export type Conversation = z.output<typeof Conversation>

export const AgentNote = z.object({ name: z.string(), text: z.string(), updatedAt: Timestamp.optional() })
export type AgentNote = z.output<typeof AgentNote>

/** What the next sprint of this agent will probably take, estimated from its history. */
export const Estimate = z.object({
  iterations: z.int(),
  medianMs: z.number().optional(),
  medianUsd: z.number().optional(),
})
export type Estimate = z.output<typeof Estimate>
