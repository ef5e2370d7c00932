import { bigserial, boolean, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import type { MachineStatus, InstalledProgram } from '../../contract/fleet/machine.ts'
import { bigintColumn, timestampMs } from './columns.ts'

export const machines = pgTable('machine', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull(),
  status: text('status').$type<MachineStatus>().notNull(),
  local: boolean('local').notNull().default(false),
  version: text('version'),
  platform: text('platform'),
  labels: jsonb('labels').$type<readonly string[]>().notNull().default([]),
  slots: integer('slots').notNull().default(4),
  /** The number of slots that the machine reported last. */
  offers: integer('offers'),
  programs: jsonb('programs').$type<readonly InstalledProgram[]>().notNull().default([]),
  roots: jsonb('roots').$type<readonly string[]>().notNull().default([]),
  diskFreeBytes: bigintColumn('disk_free_bytes'),
  clockSkewMs: bigintColumn('clock_skew_ms'),
  certificateSerial: text('certificate_serial'),
  certificateExpiresAt: timestampMs('certificate_expires_at'),
  alarm: text('alarm'),
  /** The replica that holds its connection; null if it is disconnected. */
  connectedTo: text('connected_to'),
  connectedAt: timestampMs('connected_at'),
  epoch: bigintColumn('epoch').notNull().default(0),
  bootEpoch: bigintColumn('boot_epoch').notNull().default(0),
  bootId: text('boot_id'),
  lastSeenAt: timestampMs('last_seen_at'),
  /** The user who created its join token, or the local user; null for machines that joined before there were owners. */
  ownerId: uuid('owner_id'),
  /** The machine agreed to run agents of other users than its owner. */
  shared: boolean('shared').notNull().default(false),
  createdAt: timestampMs('created_at').notNull(),
})
export type MachineRow = typeof machines.$inferSelect

export const joinTokens = pgTable('join_token', {
  id: uuid('id').primaryKey(),
  hash: text('hash').notNull().unique(),
  name: text('name'),
  labels: jsonb('labels').$type<readonly string[]>().notNull().default([]),
  createdBy: uuid('created_by'),
  createdAt: timestampMs('created_at').notNull(),
  expiresAt: timestampMs('expires_at').notNull(),
  usedAt: timestampMs('used_at'),
  /** Pin of the key of the machine that used it. */
  keyPin: text('key_pin'),
  approve: boolean('approve').notNull().default(false),
  machineId: uuid('machine_id'),
})

/** The certificate authorities that machines trust. */
export const authorities = pgTable('authority', {
  id: integer('id').primaryKey().default(1),
  certificate: text('certificate').notNull(),
  key: text('key').notNull(),
})

/** Pending calls to machines; the body of a durable request is in the outbox instead. */
export const machineCalls = pgTable('machine_call', {
  id: text('id').primaryKey(),
  machineId: uuid('machine_id').notNull(),
  type: text('type').notNull(),
  body: jsonb('body'),
  reply: jsonb('reply'),
  createdAt: timestampMs('created_at').notNull(),
})

/** Messages to machines. A row is deleted once the machine has stored it on disk. */
export const machineOutbox = pgTable('machine_outbox', {
  id: bigserial('id', { mode: 'number' }).primaryKey(),
  machineId: uuid('machine_id').notNull(),
  messageId: text('message_id').notNull(),
  message: jsonb('message').notNull(),
  createdAt: timestampMs('created_at').notNull(),
})

/**
 * A machine not seen for this long counts as disconnected, whatever its row says. Its line notices a dead link much earlier;
 * this is for rows that a crashed replica left behind.
 */
export const machineSilentMs = 90_000
