import { z } from 'zod'
import { SprintEvent } from '../events.ts'
import { Outcome } from '../outcome.ts'
import { Progress } from '../progress.ts'
import { Check } from '../settings.ts'
import { Timestamp } from '../time.ts'
import { Conversation, Workspace } from './agent.ts'
import { CarriedOut, MachineFact, PromptOrder } from './channel-work.ts'
import { Preflight, Program, Version } from './machine.ts'
import { Uuid } from './page.ts'
import { Protocol } from './sprint.ts'

/** Versions of the messages that this build speaks. Neighbouring versions of Ralph overlap in one of them. */
export const spoken = { oldest: 1, newest: 1 } as const

/** A message may be this long as a whole, and this long in one frame. */
export const longestMessage = 16 * 1024 * 1024
export const longestFrame = 1024 * 1024
/** Longer outputs of tools travel without their middle; the whole can be read by `read-file`. */
export const longestOutput = 16 * 1024

const agent = { agentId: Uuid }

/** What the notes folder says after a prompt, or when it is asked. What could not be read is not gone. */
export const TaskLock = z.discriminatedUnion('state', [
  z.object({ state: z.literal('present') }),
  /** `outcome`: what the agent left in the OUTCOME file, or `unknown` and then its last message counts. */
  z.object({ state: z.literal('gone'), outcome: z.enum(['done', 'stuck', 'unknown']), sentence: z.string() }),
  z.object({ state: z.literal('unreadable'), reason: z.string() }),
])
export type TaskLock = z.output<typeof TaskLock>

/** How a prompt came to its end. The same prompt never ends twice. */
export const PromptEnd = z.discriminatedUnion('kind', [
  /** Of a prompt that an order of the loop has asked for. */
  z.object({ kind: z.literal('fact'), fact: MachineFact }),
  /** Of a person's own prompt. */
  z.object({ kind: z.literal('outcome'), outcome: Outcome }),
  /** It was called off before it began. */
  z.object({ kind: z.literal('cancelled') }),
  /** It cannot be begun here: no such agent, the agent is archived, its folder is gone. */
  z.object({ kind: z.literal('refused'), reason: z.string() }),
])
export type PromptEnd = z.output<typeof PromptEnd>

/** A prompt of the loop, or a person's own. */
const Asked = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('order'),
    sprintId: Uuid,
    protocol: Protocol,
    order: PromptOrder,
    /** As it is when the order is given; without the iterations that are over. */
    progress: Progress,
  }),
  z.object({
    kind: z.literal('text'),
    text: z.string(),
    model: z.string().optional(),
    /** Go on in the conversation of the last prompt, if the program can and nobody has reset it. */
    resume: z.boolean().optional(),
  }),
])

/** One event of an agent, as its journal has it. `seq` grows by one. */
export const AgentJournalEvent = z.object({
  seq: z.int().min(1),
  at: Timestamp,
  sprintId: Uuid.optional(),
  promptId: Uuid.optional(),
  event: SprintEvent,
  /** Where the whole can be read: a path for `read-file` in `agent`. */
  clipped: z.string().optional(),
})
export type AgentJournalEvent = z.output<typeof AgentJournalEvent>

const InventoryAgent = z.object({
  ...agent,
  state: z.enum(['idle', 'running', 'archived', 'failed']),
  workspace: Workspace,
  /** Where that is on the disk. */
  folder: z.string(),
  reason: z.string().optional(),
  /** What runs, and what waits to be begun. */
  prompts: z.array(z.object({ promptId: Uuid, running: z.boolean(), startedAt: Timestamp.optional() })),
  orders: z.array(z.string()),
  lastEventSeq: z.int().min(0),
})
export type InventoryAgent = z.output<typeof InventoryAgent>

/** All that a machine knows of itself. Complete: what is not in it is not there. */
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
  /** Absent: not looked at yet; it follows. */
  programs: z.array(Program).optional(),
  agents: z.array(InventoryAgent),
  /** Reports that wait until the backend has stored them. */
  waiting: z.int().min(0),
})
export type Inventory = z.output<typeof Inventory>

/** Where a file is looked for. Nothing outside can be read, links do not lead out. */
const FileArea = z.enum(['workspace', 'agent', 'notes'])

const Commit = z.string().regex(/^[0-9a-f]{40,64}$/)

/** `pushed`: the commit with the files as they are now, if the workspace says where to push and that went well. */
const end = { endedAt: Timestamp, pushed: Commit.optional() }

/**
 * What the backend asks of a machine. `kept`: it waits in the outbox until the machine has stored it, also over restarts of
 * both, and is acted upon once; sending the same id again changes nothing. The others need a machine that answers now.
 */
export const requests = {
  'create-workspace': kept(
    {
      ...agent,
      name: z.string(),
      workspace: Workspace,
      /** What another machine, which is lost, has pushed last: the files become what they were then. */
      from: z.object({ sprintId: Uuid, commit: Commit }).optional(),
    },
    { folder: z.string() },
  ),
  'archive-workspace': kept({ ...agent }, {}),
  prompt: kept(
    {
      promptId: Uuid,
      ...agent,
      /** The agent program: `claude`, `codex`, `command:…` */
      program: z.string(),
      asked: Asked,
      /** It is not begun later than this after the machine has last heard from the backend. */
      leaseMs: z.int().min(1000),
    },
    {},
  ),
  'carry-out': kept(
    {
      orderId: z.string().min(1).max(300),
      ...agent,
      program: z.string(),
      sprintId: Uuid,
      order: CarriedOut,
      progress: Progress,
      leaseMs: z.int().min(1000).optional(),
    },
    {},
  ),
  interrupt: kept(
    { ...agent, promptId: Uuid.optional(), when: z.enum(['now', 'turn']) },
    /** Whether anything ran or waited that was ended by this. */
    { interrupted: z.boolean() },
  ),
  /** Forgets the conversation; what was said is kept and can be read. */
  reset: kept({ ...agent }, { conversationId: z.string().optional() }),
  'ralph-mode-setup': kept({ ...agent, taskDescription: z.string() }, { directory: z.string() }),
  /** Removes the lock, at a stop by a person. */
  'ralph-mode-end': kept({ ...agent }, {}),
  checkpoint: kept(
    { ...agent, sprintId: Uuid, iteration: z.int(), message: z.string() },
    { commit: z.string().optional() },
  ),
  /** `saved`: the checkpoint that holds what was there before. Refused while a prompt runs. */
  restore: kept({ ...agent, sprintId: Uuid, iteration: z.int() }, { saved: z.string() }),
  /** Installs that version of Ralph, in the way that the machine itself has chosen, and starts again. */
  update: kept({ version: Version }, {}),
  'ralph-mode-check-lock': live({ ...agent }, { exists: z.boolean(), lock: TaskLock }),
  'claude-state': live(
    { ...agent },
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
      ...agent,
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
  diff: live({ ...agent, sprintId: Uuid, from: z.int(), to: z.int() }, { patch: z.string(), truncated: z.boolean() }),
  notes: live(
    { ...agent },
    {
      directory: z.string(),
      files: z.array(z.object({ name: z.string(), size: z.int(), updatedAt: Timestamp, text: z.string().optional() })),
    },
  ),
  conversations: live({ ...agent }, { conversations: z.array(Conversation) }),
  'detect-checks': live({ ...agent }, { checks: z.array(Check) }),
  preflight: live({ agentId: Uuid.optional(), program: z.string() }, { preflight: Preflight }),
} as const

/** What a machine tells the backend, or asks of it. */
export const reports = {
  'prompt-ended': kept({ promptId: Uuid, ...agent, ...end, end: PromptEnd, lock: TaskLock.optional() }, {}),
  'order-ended': kept(
    {
      orderId: z.string(),
      ...agent,
      ...end,
      /** Absent: it was called off, or could not be carried out at all. */
      fact: MachineFact.optional(),
      reason: z.string().optional(),
    },
    {},
  ),
  /** On every connection before anything else, and on change. The answer says up to where each agent's events are stored. */
  inventory: live(
    { inventory: Inventory },
    {
      stored: z.record(z.string(), z.int()),
      /** Agents that another machine has taken over meanwhile: what runs of them is ended, their files stay. */
      moved: z.array(Uuid).optional(),
    },
  ),
  /** The next one of an agent is sent when this one is stored. */
  events: live({ ...agent, events: z.array(AgentJournalEvent).min(1).max(1000) }, { stored: z.int() }),
  renew: live({ csr: z.string().max(10_000) }, { certificate: z.string(), authorities: z.string() }),
} as const

export type RequestType = keyof typeof requests
export type ReportType = keyof typeof reports
export type KeptRequest = { [T in RequestType]: (typeof requests)[T]['way'] extends 'kept' ? T : never }[RequestType]
export type LiveRequest = Exclude<RequestType, KeptRequest>

export type RequestBody<T extends RequestType> = z.output<(typeof requests)[T]['body']>
export type RequestReply<T extends RequestType> = z.output<(typeof requests)[T]['reply']>
export type ReportBody<T extends ReportType> = z.output<(typeof reports)[T]['body']>
export type ReportReply<T extends ReportType> = z.output<(typeof reports)[T]['reply']>

const repliesTo = { to: z.string(), type: z.string() }

/** How a call went: `to` is the id of the request. `success: false` never carries an answer. */
export const Reply = z.discriminatedUnion('success', [
  z.object({ success: z.literal(true), ...repliesTo, result: z.unknown() }),
  z.object({ success: z.literal(false), ...repliesTo, code: z.string(), message: z.string() }),
])
export type Reply = z.output<typeof Reply>

function kept<B extends z.ZodRawShape, R extends z.ZodRawShape>(body: B, reply: R) {
  return { way: 'kept' as const, body: z.object(body), reply: answer(reply) }
}

function live<B extends z.ZodRawShape, R extends z.ZodRawShape>(body: B, reply: R) {
  return { way: 'live' as const, body: z.object(body), reply: answer(reply) }
}

/** As in the seed: what was asked for has been done. A failure is another shape, and never looks like an answer. */
function answer<R extends z.ZodRawShape>(reply: R) {
  return z.object({ success: z.literal(true), ...reply })
}
