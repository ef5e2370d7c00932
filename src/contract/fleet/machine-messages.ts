import { z } from 'zod'
import { LoggedEvent } from '../events.ts'
import { Outcome } from '../outcome.ts'
import { Progress } from '../progress.ts'
import { Check } from '../check.ts'
import { Timestamp } from '../time.ts'
import { Conversation, AgentWorkspace } from './agent.ts'
import { MachineOrder, MachineFact, PromptOrder } from './machine-work.ts'
import { FinishedSprint, FinishPlan, FinishSprint, Protocol } from './sprint.ts'
import { Preflight, InstalledProgram, Version } from './machine.ts'
import { Uuid } from './page.ts'

/** Protocol versions that this build speaks. Adjacent releases of Ralph have at least one in common. */
export const protocolVersions = { oldest: 1, newest: 1 } as const

/** Maximum length of a whole message, and of one frame. */
export const maxMessageBytes = 16 * 1024 * 1024
export const maxFrameBytes = 1024 * 1024

const agentField = { agentId: Uuid }

/** State of the notes folder after a prompt or on request. An unreadable lock does not count as deleted. */
export const TaskLockState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('present') }),
  /** `outcome`: the content of the OUTCOME file; if `unknown`, the agent's last message decides. */
  z.object({ state: z.literal('gone'), outcome: z.enum(['done', 'stuck', 'unknown']), sentence: z.string() }),
  z.object({ state: z.literal('unreadable'), reason: z.string() }),
])
export type TaskLockState = z.output<typeof TaskLockState>

/** How a prompt ended. A prompt ends only once. */
export const PromptEnd = z.discriminatedUnion('kind', [
  /** Result of a prompt that the loop ordered. */
  z.object({ kind: z.literal('fact'), fact: MachineFact }),
  /** Result of a user's prompt. */
  z.object({ kind: z.literal('outcome'), outcome: Outcome }),
  /** Cancelled before it started. */
  z.object({ kind: z.literal('cancelled') }),
  /** It cannot start here: the agent is unknown or archived, or its folder is missing. */
  z.object({ kind: z.literal('refused'), reason: z.string() }),
])
export type PromptEnd = z.output<typeof PromptEnd>

/** A prompt of the loop, or of a user. */
const PromptSource = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('order'),
    sprintId: Uuid,
    protocol: Protocol,
    order: PromptOrder,
    /** Progress at the time of the order, without finished iterations. */
    progress: Progress,
  }),
  z.object({
    kind: z.literal('text'),
    text: z.string(),
    model: z.string().optional(),
    /** Resume the conversation of the last prompt, if the program supports it and no user has reset it. */
    resume: z.boolean().optional(),
    /** Whether it may run without a cell on a machine that cannot provide one. Absent (older backend): it may. */
    cell: z.enum(['auto', 'required']).optional(),
  }),
])

const InventoryAgent = z.object({
  ...agentField,
  state: z.enum(['idle', 'running', 'archived', 'failed']),
  workspace: AgentWorkspace,
  /** Its path on disk. */
  folder: z.string(),
  reason: z.string().optional(),
  /** Running and waiting prompts. */
  prompts: z.array(z.object({ promptId: Uuid, running: z.boolean(), startedAt: Timestamp.optional() })),
  orders: z.array(z.string()),
  lastEventSeq: z.int().min(0),
})
export type InventoryAgent = z.output<typeof InventoryAgent>

/** The complete state of a machine: an agent or prompt that is missing here does not exist on it. */
export const Inventory = z.object({
  version: z.string(),
  platform: z.string(),
  bootEpoch: z.int().min(1),
  at: Timestamp,
  name: z.string(),
  labels: z.array(z.string()),
  slots: z.int().min(1),
  roots: z.array(z.string()),
  diskFreeBytes: z.number().optional(),
  /** Absent until the machine has looked for programs; a later inventory contains them. */
  programs: z.array(InstalledProgram).optional(),
  agents: z.array(InventoryAgent),
  /** Number of reports that the backend has not stored yet. */
  waiting: z.int().min(0),
})
export type Inventory = z.output<typeof Inventory>

/** Root folder of a file to read. Paths and links cannot lead out of it. */
const FileArea = z.enum(['workspace', 'agent', 'notes'])

const Commit = z.string().regex(/^[0-9a-f]{40,64}$/)

/** `pushed`: the commit with the current files, if the workspace has a push target and the push succeeded. */
const endFields = { endedAt: Timestamp, pushed: Commit.optional() }

/**
 * Requests of the backend to a machine. `kept` requests wait in the outbox until the machine has stored them, survive
 * restarts of both sides, and take effect once; sending the same ID again changes nothing. `live` requests need a
 * machine that answers now.
 */
export const requests = {
  'create-workspace': durable(
    {
      ...agentField,
      name: z.string(),
      workspace: AgentWorkspace,
      /** Folders of the user who creates the agent: local folders of the workspace must be in them. */
      within: z.array(z.string()).optional(),
      /** The last commit pushed by a lost machine; the files are restored from it. */
      from: z.object({ sprintId: Uuid, commit: Commit }).optional(),
    },
    { folder: z.string() },
  ),
  'archive-workspace': durable({ ...agentField }, {}),
  prompt: durable(
    {
      promptId: Uuid,
      ...agentField,
      /** The agent program: `claude`, `codex`, `command:…` */
      program: z.string(),
      asked: PromptSource,
      /** The machine must start it within this time after the last message of the backend. */
      leaseMs: z.int().min(1000),
    },
    {},
  ),
  'carry-out': durable(
    {
      orderId: z.string().min(1).max(300),
      ...agentField,
      program: z.string(),
      sprintId: Uuid,
      order: MachineOrder,
      progress: Progress,
      leaseMs: z.int().min(1000).optional(),
    },
    {},
  ),
  interrupt: durable(
    { ...agentField, promptId: Uuid.optional(), when: z.enum(['now', 'turn']) },
    /** Whether a running or waiting prompt was ended. */
    { interrupted: z.boolean() },
  ),
  /** Ends the conversation; its transcript stays readable. */
  reset: durable({ ...agentField }, { conversationId: z.string().optional() }),
  'ralph-mode-setup': durable({ ...agentField, taskDescription: z.string() }, { directory: z.string() }),
  /** Removes the lock when a user stops Ralph Mode. */
  'ralph-mode-end': durable({ ...agentField }, {}),
  checkpoint: durable(
    { ...agentField, sprintId: Uuid, iteration: z.int(), message: z.string() },
    { commit: z.string().optional() },
  ),
  /** `saved`: the checkpoint with the previous files; empty if nothing changed. Refused while a prompt runs. */
  restore: durable({ ...agentField, sprintId: Uuid, iteration: z.int() }, { saved: z.string() }),
  /** Commits the work of the sprint. `author`: for machines where git knows no identity. Refused while a prompt runs. */
  finish: durable(
    {
      ...agentField,
      sprintId: Uuid,
      ...FinishSprint.shape,
      author: z.object({ name: z.string(), email: z.string() }).optional(),
    },
    FinishedSprint.shape,
  ),
  /** Installs that version of Ralph as configured on the machine, and restarts. */
  update: durable({ version: Version }, {}),
  'ralph-mode-check-lock': live({ ...agentField }, { exists: z.boolean(), lock: TaskLockState }),
  'claude-state': live(
    { ...agentField },
    {
      isReady: z.boolean(),
      hasBlockingAutomation: z.boolean(),
      promptId: Uuid.optional(),
      startedAt: Timestamp.optional(),
      lastEventAt: Timestamp.optional(),
    },
  ),
  'read-file': live(
    {
      ...agentField,
      area: FileArea,
      path: z.string().max(4096),
      offset: z.int().min(0),
      length: z
        .int()
        .min(1)
        .max(512 * 1024),
    },
    { size: z.int(), base64: z.string() },
  ),
  diff: live(
    { ...agentField, sprintId: Uuid, from: z.int(), to: z.int() },
    { patch: z.string(), truncated: z.boolean() },
  ),
  'finish-plan': live({ ...agentField, sprintId: Uuid }, FinishPlan.shape),
  'restore-preview': live(
    { ...agentField, sprintId: Uuid, iteration: z.int() },
    { patch: z.string(), truncated: z.boolean() },
  ),
  notes: live(
    { ...agentField },
    {
      directory: z.string(),
      files: z.array(z.object({ name: z.string(), size: z.int(), updatedAt: Timestamp, text: z.string().optional() })),
    },
  ),
  conversations: live({ ...agentField }, { conversations: z.array(Conversation) }),
  'detect-checks': live({ ...agentField }, { checks: z.array(Check) }),
  preflight: live({ agentId: Uuid.optional(), program: z.string() }, { preflight: Preflight }),
  /** A user wants to try a program again before its usage limit ends. */
  'forget-limit': live({ program: z.string() }, {}),
} as const

/** Reports and requests of a machine to the backend. */
export const reports = {
  'prompt-ended': durable(
    {
      promptId: Uuid,
      ...agentField,
      ...endFields,
      end: PromptEnd,
      /** The prompt that the agent received; absent if it never started. */
      prompt: z.string().optional(),
      lock: TaskLockState.optional(),
    },
    {},
  ),
  'order-ended': durable(
    {
      orderId: z.string(),
      ...agentField,
      ...endFields,
      /** Absent if the order was cancelled or could not be executed. */
      fact: MachineFact.optional(),
      reason: z.string().optional(),
    },
    {},
  ),
  /** The process of a hook, which users see while it runs. */
  'hook-spawned': durable({ orderId: z.string(), ...agentField, pid: z.int() }, {}),
  /** Sent first on every connection, and again on change. The reply contains the last stored event of each agent. */
  inventory: live(
    { inventory: Inventory },
    {
      stored: z.record(z.string(), z.int()),
      /** Agents that another machine has taken over: this machine ends their prompts and keeps their files. */
      moved: z.array(Uuid).optional(),
    },
  ),
  /** The next batch of an agent is sent once this one is stored. */
  events: live({ ...agentField, events: z.array(LoggedEvent).min(1).max(1000) }, { stored: z.int() }),
  renew: live({ csr: z.string().max(10_000) }, { certificate: z.string(), authorities: z.string() }),
} as const

export type RequestType = keyof typeof requests
export type ReportType = keyof typeof reports
export type DurableRequest = { [T in RequestType]: (typeof requests)[T]['way'] extends 'kept' ? T : never }[RequestType]
export type LiveRequest = Exclude<RequestType, DurableRequest>

export type RequestBody<T extends RequestType> = z.output<(typeof requests)[T]['body']>
export type RequestReply<T extends RequestType> = z.output<(typeof requests)[T]['reply']>
export type ReportBody<T extends ReportType> = z.output<(typeof reports)[T]['body']>
export type ReportReply<T extends ReportType> = z.output<(typeof reports)[T]['reply']>

const replyHeader = { to: z.string(), type: z.string() }

/** The result of a call; `to` is the ID of the request. `success: false` never carries a result. */
export const Reply = z.discriminatedUnion('success', [
  z.object({ success: z.literal(true), ...replyHeader, result: z.unknown() }),
  z.object({ success: z.literal(false), ...replyHeader, code: z.string(), message: z.string() }),
])
export type Reply = z.output<typeof Reply>

function durable<B extends z.ZodRawShape, R extends z.ZodRawShape>(body: B, reply: R) {
  return { way: 'kept' as const, body: z.object(body), reply: replySchema(reply) }
}

function live<B extends z.ZodRawShape, R extends z.ZodRawShape>(body: B, reply: R) {
  return { way: 'live' as const, body: z.object(body), reply: replySchema(reply) }
}

/** As in the seed, success has its own shape, and a failure cannot be mistaken for a result. */
function replySchema<R extends z.ZodRawShape>(reply: R) {
  return z.object({ success: z.literal(true), ...reply })
}
