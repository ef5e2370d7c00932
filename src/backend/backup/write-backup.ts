import type { PoolClient } from 'pg'
import { createGzipLineWriter, type GzipLineWriter } from '../../platform/files/gzip-lines.ts'
import type { Database } from '../database/database.ts'
import { formatTableEnd, formatTableStart, tableName, type BackupHeader, type BackupTable } from './backup-file.ts'

const rowsPerFetch = 500
/** What only a running replica needs; and what the restoring version creates itself. */
const leftOut: ReadonlySet<string> = new Set(['public.executor', 'public.migration', 'dbos.dbos_migrations'])

export type BackupSummary = {
  readonly file: string
  readonly rows: number
  readonly sha256: string
  readonly createdAt: string
}

/**
 * Writes every row that is committed now, as one snapshot: work continues, and what it commits later is not in it. The file appears
 * only once it is complete.
 */
export async function writeBackup(
  database: Database,
  file: string,
  about: { readonly ralph: string; readonly now: number },
): Promise<BackupSummary> {
  const client = await database.pool.connect()
  const writer = createGzipLineWriter(file)
  try {
    await client.query('begin isolation level repeatable read read only')
    await client.query('set local idle_in_transaction_session_timeout = 0')
    const header = await createHeader(client, database, about)
    await writer.write(JSON.stringify(header))
    let rows = 0
    for (const table of header.tables) rows += await writeTable(client, writer, table)
    const sha256 = writer.checksum()
    await writer.write(JSON.stringify({ end: true, rows, sha256 }))
    await writer.close()
    return { file, rows, sha256, createdAt: header.createdAt }
  } catch (error) {
    await writer.discard()
    throw error
  } finally {
    await client.query('rollback').catch(() => {})
    client.release()
  }
}

async function createHeader(
  client: PoolClient,
  { kind }: Database,
  { ralph, now }: { readonly ralph: string; readonly now: number },
): Promise<BackupHeader> {
  const { rows: migrations } = await client.query<BackupHeader['migrations'][number]>(
    'select number, name, checksum from migration order by number',
  )
  const tables = (await listTables(client)).filter((table) => !leftOut.has(tableName(table)))
  const createdAt = new Date(now).toISOString()
  return { format: 'ralph-backup', version: 1, ralph, kind, createdAt, migrations, tables }
}

async function writeTable(client: PoolClient, writer: GzipLineWriter, table: BackupTable): Promise<number> {
  await writer.write(formatTableStart(table))
  const columns = table.columns.map(quote).join(', ')
  await client.query(
    `declare backup_rows no scroll cursor for
     select row_to_json(r)::text as json from (select ${columns} from ${quote(table.schema)}.${quote(table.name)}) r`,
  )
  let count = 0
  for (;;) {
    const { rows } = await client.query<{ json: string }>(`fetch ${rowsPerFetch} from backup_rows`)
    for (const { json } of rows) await writer.write(json)
    count += rows.length
    if (rows.length < rowsPerFetch) break
  }
  await client.query('close backup_rows')
  await writer.write(formatTableEnd(table, count))
  return count
}

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

type TableRow = { readonly schema: string; readonly name: string; readonly columns: string[]; readonly needs: string[] }

/** All tables of ours and of the engine with their stored columns; a table follows those that it refers to. */
export async function listTables(client: Pick<PoolClient, 'query'>): Promise<BackupTable[]> {
  const { rows } = await client.query<TableRow>(`
    select n.nspname as schema, c.relname as name,
      (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      coalesce((select array_agg(distinct fn.nspname || '.' || fc.relname) from pg_constraint k
        join pg_class fc on fc.oid = k.confrelid join pg_namespace fn on fn.oid = fc.relnamespace
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid), '{}') as needs
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname in ('public', 'dbos') order by 1, 2`)
  return sortByNeeds(rows).map(({ schema, name, columns }) => ({ schema, name, columns }))
}

function sortByNeeds(tables: readonly TableRow[]): TableRow[] {
  const sorted: TableRow[] = []
  const done = new Set<string>()
  const add = (table: TableRow, above: readonly string[]): void => {
    const name = tableName(table)
    if (done.has(name) || above.includes(name)) return
    for (const needed of table.needs) {
      const found = tables.find((other) => tableName(other) === needed)
      if (found) add(found, [...above, name])
    }
    done.add(name)
    sorted.push(table)
  }
  for (const table of tables) add(table, [])
  return sorted
}
