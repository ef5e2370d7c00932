import type { PoolClient } from 'pg'
import { RalphError } from '../../contract/errors.ts'
import type { Database } from '../database/database.ts'
import { migrate, readMigrations } from '../database/migrate.ts'
import { openEngine } from '../engine/open-engine.ts'
import { readBackup, tableName, type BackupHeader, type BackupTable } from './backup-file.ts'
import { listTables, quote } from './write-backup.ts'

const batchChars = 500_000

export type RestoreSummary = { readonly rows: number; readonly createdAt: string; readonly ralph: string }

export type CheckedBackup = RestoreSummary & {
  readonly sha256: string
  /** Number of migrations that its database had. */
  readonly migrations: number
}

/** Reads the whole backup and checks it, without a database. */
export async function checkBackup(file: string): Promise<CheckedBackup> {
  let header: BackupHeader | undefined
  for await (const part of readBackup(file)) {
    if (part.kind === 'header') header = part.header
    if (part.kind === 'end' && header)
      return {
        rows: part.rows,
        sha256: part.sha256,
        createdAt: header.createdAt,
        ralph: header.ralph,
        migrations: header.migrations.length,
      }
  }
  throw new RalphError('BACKUP_DAMAGED', 'the backup cannot be used: it is empty', { place: { file } })
}

/**
 * Fills an empty database with a backup, in one transaction: all of it or nothing. Applies only the migrations that the
 * backup had; the next start of the backend applies the others to the data.
 */
export async function restoreBackup(database: Database, file: string, migrations: string): Promise<RestoreSummary> {
  const checked = await checkBackup(file)
  const header = await readHeader(file)
  await assertKnown(header, migrations)
  await assertEmpty(database)
  await migrate(database, migrations, { upTo: header.migrations.length })
  // The engine creates its own tables when it starts.
  const engine = await openEngine(database, { handlers: {}, onLost: () => {} })
  await engine.close()
  await database.transaction(async ({ client }) => {
    await client.query('set local idle_in_transaction_session_timeout = 0')
    await fillTables(client, file)
    // Transaction numbers of the other database mean nothing here; ids keep the order of events.
    await client.query(`update event set tx = '0'`)
    await resetSequences(client)
  })
  return { rows: checked.rows, createdAt: checked.createdAt, ralph: checked.ralph }
}

async function readHeader(file: string): Promise<BackupHeader> {
  for await (const part of readBackup(file)) if (part.kind === 'header') return part.header
  throw new RalphError('BACKUP_DAMAGED', 'the backup cannot be used: it is empty', { place: { file } })
}

/** Throws DATABASE_NEWER unless this version has every migration of the backup. */
async function assertKnown({ ralph, migrations: applied }: BackupHeader, folder: string): Promise<void> {
  const known = await readMigrations(folder)
  const unknown = applied.find(({ checksum }, index) => known[index]?.checksum !== checksum)
  if (!unknown) return
  throw new RalphError(
    'DATABASE_NEWER',
    `ralph ${ralph} made this backup, with ${unknown.name}, which this version lacks`,
    {
      hint: `restore it with ralph ${ralph} or newer`,
    },
  )
}

async function assertEmpty({ pool }: Database): Promise<void> {
  const { rows: tables } = await pool.query(
    `select 1 from pg_tables where schemaname = 'public' and tablename = 'agent'`,
  )
  if (tables.length === 0) return
  const { rows } = await pool.query<{ used: boolean }>(
    'select exists (select 1 from agent) or exists (select 1 from machine) or exists (select 1 from "user") as used',
  )
  if (rows[0]?.used !== true) return
  throw new RalphError('DATABASE_IN_USE', 'the database is not empty', {
    hint: 'restore into a new database, or into another --data folder',
  })
}

async function fillTables(client: PoolClient, file: string): Promise<void> {
  const here = await listTables(client)
  const known = new Map(here.map((table) => [tableName(table), table]))
  const fill = createFiller(client)
  for await (const part of readBackup(file)) {
    if (part.kind === 'header') {
      for (const table of part.header.tables.toReversed()) {
        if (!known.has(tableName(table))) throw unknownTable(table)
        // What the engine writes at its start. The audit log has no such rows, and refuses deletes.
        if (table.schema === 'dbos') await client.query(`delete from dbos.${quote(table.name)}`)
      }
      fill.begin(part.header.tables)
    } else if (part.kind === 'row') await fill.add(part.table, part.json)
  }
  await fill.flush()
}

const unknownTable = (table: BackupTable): RalphError =>
  new RalphError('DATABASE_NEWER', `the backup has the table ${tableName(table)}, which this version lacks`)

/** Inserts rows in batches; rows of one table are adjacent. */
function createFiller(client: PoolClient) {
  const tables = new Map<string, BackupTable>()
  let current: BackupTable | undefined
  let rows: string[] = []
  let size = 0
  const flush = async () => {
    if (!current || rows.length === 0) return
    const name = `${quote(current.schema)}.${quote(current.name)}`
    const columns = current.columns.map(quote).join(', ')
    await client.query(
      `insert into ${name} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${name}, $1::json)`,
      [`[${rows.join(',')}]`],
    )
    rows = []
    size = 0
  }
  return {
    flush,
    begin: (all: readonly BackupTable[]) => all.forEach((table) => tables.set(tableName(table), table)),
    add: async (table: string, json: string) => {
      if (current === undefined || tableName(current) !== table || size > batchChars) await flush()
      current = tables.get(table)
      rows.push(json)
      size += json.length
    },
  }
}

async function resetSequences(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ sequence: string; schema: string; table: string; column: string }>(`
    select pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname) as sequence,
      n.nspname as schema, c.relname as table, a.attname as column
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname in ('public', 'dbos') and a.attnum > 0 and not a.attisdropped
      and pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname) is not null`)
  for (const { sequence, schema, table, column } of rows) {
    await client.query(
      `select setval($1, greatest(1, (select coalesce(max(${quote(column)}), 0) + 1 from ${quote(schema)}.${quote(table)})), false)`,
      [sequence],
    )
  }
}
