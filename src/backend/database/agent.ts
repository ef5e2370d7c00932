import { boolean, integer, pgTable, primaryKey, jsonb, text, uuid } from 'drizzle-orm/pg-core'
import type { AgentState, AgentWorkspace } from '../../contract/fleet/agent.ts'
import { bigintColumn, timestampMs } from './columns.ts'

/** A transaction that changes an agent, its prompts or its sprint locks this row first. */
export const agents = pgTable('agent', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull(),
  machineId: uuid('machine_id').notNull(),
  workspace: jsonb('workspace').$type<AgentWorkspace>().notNull(),
  program: text('program').notNull(),
  model: text('model'),
  /** Agents of the same account share a usage limit. */
  account: text('account').notNull(),
  state: text('state').$type<AgentState>().notNull(),
  reason: text('reason'),
  inRalphMode: boolean('in_ralph_mode').notNull().default(false),
  ralphModeTaskDescription: text('ralph_mode_task_description'),
  ralphModeLastPromptAt: timestampMs('ralph_mode_last_prompt_at'),
  ralphModeMinIntervalMs: bigintColumn('ralph_mode_min_interval_ms').notNull().default(0),
  notesFolder: text('notes_folder'),
  sprintId: uuid('sprint_id'),
  /** The user's next prompt resumes the same conversation. */
  inConversation: boolean('in_conversation').notNull().default(false),
  /** Sequence number of the last stored event. */
  eventsSeq: bigintColumn('events_seq').notNull().default(0),
  /** Labels that a machine needs to run this agent. */
  labels: jsonb('labels').$type<readonly string[]>().notNull().default([]),
  /** Until then, one replica is moving the agent to another machine. */
  movingUntil: timestampMs('moving_until'),
  createdAt: timestampMs('created_at').notNull(),
  archivedAt: timestampMs('archived_at'),
})
export type AgentRow = typeof agents.$inferSelect

/** Machines that had the agent before another one took it over. */
export const placements = pgTable(
  'placement',
  {
    agentId: uuid('agent_id').notNull(),
    machineId: uuid('machine_id').notNull(),
    endedAt: timestampMs('ended_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.machineId] })],
)

export const conversations = pgTable('conversation', {
  id: uuid('id').primaryKey(),
  agentId: uuid('agent_id').notNull(),
  sprintId: uuid('sprint_id'),
  iteration: integer('iteration'),
  /** Its first prompt. */
  promptId: uuid('prompt_id'),
  messages: integer('messages').notNull(),
  startedAt: timestampMs('started_at').notNull(),
  /** Null while the next prompt resumes it. */
  endedAt: timestampMs('ended_at'),
})
