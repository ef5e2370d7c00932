import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { errorMessage, RalphError } from '../../contract/errors.ts'
import { listFolder, readTextIfExists } from '../../platform/files/files.ts'
import type { Database } from './database.ts'

type AppliedMigration = {
  readonly number: number
  readonly name: string
  readonly checksum: string
  /** Versions that do not know this migration cannot use the database. */
  readonly breaking: boolean
}
type Migration = AppliedMigration & { readonly sql: string }

/** Arbitrary advisory lock, so that replicas that start together migrate one after the other. */
const migrationLock = 7_226_842_031

/**
 * Applies the missing numbered SQL files, all or none. An applied file must never change. Migrations only add, so older
 * versions can use a newer database during a rolling update. A migration that breaks this says so in its first line
 * (`-- breaking: why`), and older versions refuse the database.
 */
export async function migrate(
  database: Database,
  folder: string,
  { upTo = Infinity }: { readonly upTo?: number } = {},
): Promise<void> {
  const known = (await readMigrations(folder)).slice(0, upTo)
  await database.transaction(async ({ client }) => {
    await client.query('set local idle_in_transaction_session_timeout = 0')
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock])
    await client.query(
      `create table if not exists migration
         (number int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`,
    )
    await client.query('alter table migration add column if not exists breaking boolean not null default false')
    const { rows } = await client.query<AppliedMigration>(
      'select number, name, checksum, breaking from migration order by number',
    )
    assertCompatible(rows, known)
    const missing = known.filter(({ number }) => !rows.some((row) => row.number === number))
    // Running replicas lock an agent first in every transaction, so they wait here and cannot deadlock with the
    // migration.
    if (rows.length > 0 && missing.length > 0) await client.query('lock table agent in access exclusive mode')
    for (const { number, name, sql, checksum, breaking } of missing) {
      await client.query(sql).catch((error: unknown) => throwIfDamaged(error, name))
      await client.query('insert into migration (number, name, checksum, breaking) values ($1, $2, $3, $4)', [
        number,
        name,
        checksum,
        breaking,
      ])
    }
    if (database.kind === 'postgres') await client.query(resetFutureTransactions)
  })
}

/**
 * Events are read in transaction order. After a dump is restored into another server, stored transaction numbers may
 * lie in that server's future: reset them to the past. The embedded database is copied as a folder, including its
 * transaction counter.
 */
const resetFutureTransactions = `update event set tx = '0' where tx >= pg_snapshot_xmax(pg_current_snapshot())`

function assertCompatible(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  const tooNew = applied.find(({ number, breaking }) => number > known.length && breaking)
  if (tooNew) {
    throw new RalphError(
      'DATABASE_NEWER',
      `a newer version of ralph has changed the database (${tooNew.name}), and this version cannot use it`,
      {
        hint: 'start that version or a newer one; to go back, restore a backup from before into a new database',
      },
    )
  }
  const byNumber = new Map(applied.map((migration) => [migration.number, migration]))
  const lastApplied = applied.at(-1)?.number ?? 0
  const skipped = known.find(({ number }) => number < lastApplied && !byNumber.has(number))
  if (skipped) throw halfMigrated(`${skipped.name} was not applied, but later migrations were`)
  const changed = known.find(({ number, checksum }) => (byNumber.get(number)?.checksum ?? checksum) !== checksum)
  if (changed)
    throw new RalphError('DATABASE_NEWER', `${changed.name} differs from the migration applied to this database`, {
      hint: 'another build of ralph made this database; start that one, or restore a backup into a new database',
    })
}

/** Ralph applies migrations all or none; a foreign dump or a restore that broke off may hold only a part of them. */
const halfMigrated = (why: string, cause?: unknown): RalphError =>
  new RalphError('DATABASE_DAMAGED', `the database is migrated only in part: ${why}; nothing was changed`, {
    hint: 'restore a complete backup into a new, empty database and start on that one',
    cause,
  })

/** Postgres: a schema, table, column or other object exists already. */
const existsAlready = /^42(P0[4-7]|701|710|723)$/

function throwIfDamaged(error: unknown, name: string): never {
  const state = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!existsAlready.test(state)) throw error
  throw halfMigrated(`${errorMessage(error)}, but ${name} that creates it is not recorded`, error)
}

export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await listFolder(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(name.slice(0, 4))
      if (number !== index + 1) throw new RalphError('INTERNAL', `${name} should be migration ${index + 1}`)
      const sql = (await readTextIfExists(join(folder, name))) ?? ''
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { number, name, sql, checksum, breaking: sql.startsWith('-- breaking:') }
    }),
  )
}
