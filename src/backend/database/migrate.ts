import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { listFolder, readTextIfThere } from '../../platform/files/files.ts'
import type { Database } from './database.ts'

type Applied = {
  readonly number: number
  readonly name: string
  readonly checksum: string
  /** Versions that do not know it cannot work with the database any more. */
  readonly breaking: boolean
}
type Migration = Applied & { readonly sql: string }

/** Any number that nobody else takes: replicas that start at the same time wait for each other. */
const lockNumber = 7_226_842_031

/**
 * Applies the numbered SQL files that are missing, all or none. A file that was applied must not be changed afterwards. Files
 * only add, so a database of a newer version is good for older ones: both run side by side while one takes the other's place.
 * A file that cannot be like that says so in its first line (`-- breaking: why`), and older versions refuse its database.
 */
export async function migrate(database: Database, folder: string): Promise<void> {
  const known = await readMigrations(folder)
  await database.transaction(async ({ client }) => {
    await client.query('set local idle_in_transaction_session_timeout = 0')
    await client.query('select pg_advisory_xact_lock($1)', [lockNumber])
    await client.query(
      `create table if not exists migration
         (number int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`,
    )
    await client.query('alter table migration add column if not exists breaking boolean not null default false')
    const { rows } = await client.query<Applied>(
      'select number, name, checksum, breaking from migration order by number',
    )
    refuseOthers(rows, known)
    const missing = known.slice(rows.length)
    // Others are at work, and whatever they do begins with an agent: they wait there, and not in a circle.
    if (rows.length > 0 && missing.length > 0) await client.query('lock table agent in access exclusive mode')
    for (const { number, name, sql, checksum, breaking } of missing) {
      await client.query(sql)
      await client.query('insert into migration (number, name, checksum, breaking) values ($1, $2, $3, $4)', [
        number,
        name,
        checksum,
        breaking,
      ])
    }
    if (database.kind === 'postgres') await client.query(restamp)
  })
}

/**
 * Events are read in the order of their transactions. A dump that was restored into another server has numbers of
 * transactions that are still to come there: they count as past. The embedded one is copied as a folder, numbers and all.
 */
const restamp = `update event set tx = '0' where tx >= pg_snapshot_xmax(pg_current_snapshot())`

function refuseOthers(applied: readonly Applied[], known: readonly Migration[]): void {
  const tooNew = applied.find(({ number, breaking }) => number > known.length && breaking)
  if (tooNew) {
    throw new RalphError(
      'DATABASE_NEWER',
      `the database is of a version that this one cannot work with (${tooNew.name})`,
      {
        hint: 'use the version of ralph that wrote it, or a newer one',
      },
    )
  }
  const changed = known.find(({ checksum }, index) => (applied[index]?.checksum ?? checksum) !== checksum)
  if (changed) throw new RalphError('DATABASE_NEWER', `${changed.name} is not what was applied to this database`)
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await listFolder(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(name.slice(0, 4))
      if (number !== index + 1) throw new RalphError('INTERNAL', `${name} should be migration ${index + 1}`)
      const sql = (await readTextIfThere(join(folder, name))) ?? ''
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { number, name, sql, checksum, breaking: sql.startsWith('-- breaking:') }
    }),
  )
}
