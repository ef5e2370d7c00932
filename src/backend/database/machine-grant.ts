import { jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { MachineGrantLevel } from '../../contract/fleet/machine-grant.ts'
import { timestampMs } from './columns.ts'

export const machineGrants = pgTable(
  'machine_grant',
  {
    machineId: uuid('machine_id').notNull(),
    userId: uuid('user_id').notNull(),
    level: text('level').$type<MachineGrantLevel>().notNull(),
    roots: jsonb('roots').$type<readonly string[]>().notNull().default([]),
    grantedBy: uuid('granted_by'),
    createdAt: timestampMs('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.machineId, table.userId] })],
)
