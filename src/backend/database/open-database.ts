import { join, resolve } from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'
import { errorMessage, RalphError } from '../../contract/errors.ts'
import { type FileLock, lockFile } from '../../platform/files/file-lock.ts'
import { copyFolder, createPrivateFolder, exists, listFolder } from '../../platform/files/files.ts'
import { createDatabase, placeholderUrl, withPreparedStatements, type Database } from './database.ts'
import { explainDatabaseError } from './database-unavailable.ts'
import { createEmbeddedSession } from './embedded/embedded-session.ts'
import { migrate } from './migrate.ts'
import { openPglite } from './embedded/open-pglite.ts'
import { unpackTemplateDatabase } from './embedded/template-database.ts'
import { createDiskSpaceGuard } from './disk-space.ts'
import { createLocalSignals, openSignals } from './signals.ts'
import { startVacuum } from './embedded/vacuum.ts'

/** A local folder (one process, no setup), or a Postgres server shared by any number of replicas. */
export type DatabasePlace = EmbeddedPlace | { readonly url: string }

type EmbeddedPlace = {
  readonly dataFolder: string
  /** A template of an empty database (bin/database.br). Without it, Postgres creates one, which takes seconds and 500 MB. */
  readonly template?: string
}

export type DatabaseOptions = {
  /** The folder with the numbered SQL files. */
  readonly migrations: string
  /** Maximum number of connections to a server, shared with DBOS. */
  readonly connections?: number
  /** Called when a connection is lost, which the pool replaces, and when the database cannot be used. */
  readonly onError?: (error: Error) => void
}

/** Opens the database as it is, for a backup or to look at it. The caller must `close` it. */
export const openDatabaseAsIs = (
  place: DatabasePlace,
  options: Omit<DatabaseOptions, 'migrations'>,
): Promise<Database> => ('url' in place ? openServer(place.url, options) : openEmbedded(place, options))

/** Opens the database and migrates it. The caller must `close` it. */
export async function openDatabase(place: DatabasePlace, options: DatabaseOptions): Promise<Database> {
  const opened = await openDatabaseAsIs(place, options)
  try {
    await migrate(opened, options.migrations)
    return opened
  } catch (error) {
    await opened.close()
    throw explainDatabaseError(error)
  }
}

const minServerVersion = 15

async function openServer(
  url: string,
  { connections = 12, onError = ignoreError }: Omit<DatabaseOptions, 'migrations'>,
): Promise<Database> {
  assertPostgresUrl(url)
  // Releases the row locks of a frozen replica before the other replicas declare it dead.
  const pool = new Pool({ connectionString: url, max: connections, keepAlive: true, ...sessionLimits })
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
  try {
    const { rows } = await pool.query<{ version: string }>(`select current_setting('server_version') as version`)
    assertServerVersion(rows[0]?.version ?? '')
    const signals = await openSignals(url, pool, onError)
    const close = async () => {
      await signals.close()
      await pool.end()
    }
    const parts = { kind: 'postgres', pool, db: drizzle(withPreparedStatements(pool)), url, signals, close } as const
    return createDatabase(parts, { onError })
  } catch (error) {
    await pool.end()
    throw explainConnectError(error)
  }
}

/** `pg` would take the text for a host name or a path. Never shown: it holds a password. */
function assertPostgresUrl(url: string): void {
  // A URL that leaves the host to its query.
  if (/^(postgres(ql)?:\/\/|socket:\/)/i.test(url) && URL.canParse(url.replace('@/', '@localhost/'))) return
  throw new RalphError('DATABASE_UNAVAILABLE', 'DATABASE_URL is not the URL of a Postgres database', {
    hint: 'write postgres://user:password@host:5432/database, with # / @ % in the password as %23 %2F %40 %25',
  })
}

/** Whatever prevents the first query, such as an unknown certificate, means that there is no database. */
function explainConnectError(error: unknown): unknown {
  const explained = explainDatabaseError(error)
  if (explained instanceof RalphError) return explained
  const message = `cannot reach the database: ${errorMessage(error)}`
  return new RalphError('DATABASE_UNAVAILABLE', message, {
    cause: error,
    hint: 'see the log of the server, and correct DATABASE_URL',
  })
}

/** Releases such as `15.4`, `16.2 (Debian 16.2-1)` and `18beta1`. */
function assertServerVersion(version: string): void {
  if (Number.parseInt(version, 10) >= minServerVersion) return
  throw new RalphError('DATABASE_UNAVAILABLE', `the server runs PostgreSQL ${version}, which is too old`, {
    hint: `use PostgreSQL ${minServerVersion} or newer; pg_upgrade converts the files of an older server`,
  })
}

const sessionLimits = { idle_in_transaction_session_timeout: 3000, connectionTimeoutMillis: 10_000 }

/**
 * Postgres inside this process. It has no lock of its own, and two processes would corrupt the data, so we lock the
 * folder. It has one connection: a holder must not wait for another client, or both deadlock.
 */
async function openEmbedded(
  place: EmbeddedPlace,
  { onError = ignoreError }: Omit<DatabaseOptions, 'migrations'>,
): Promise<Database> {
  const dataFolder = resolve(place.dataFolder)
  const folder = join(dataFolder, 'database')
  await createPrivateFolder(dataFolder)
  const lock = lockDataFolder(join(dataFolder, 'database.lock'))
  const assertDiskSpace = createDiskSpaceGuard(dataFolder)
  try {
    await assertDiskSpace()
    await assertComplete(folder)
    if (place.template !== undefined) await unpackTemplateDatabase(place.template, folder)
    await createPrivateFolder(folder)
    const lite = await openPglite(folder).catch((cause: unknown) => {
      throw damagedDatabase(folder, `Postgres cannot open it (${errorMessage(cause)})`, cause)
    })
    const pool = new Pool({
      user: 'postgres',
      database: 'postgres',
      stream: createEmbeddedSession(lite),
      ...oneConnection,
      // All connections share one session, and so its prepared statements. The pool waits for it.
      verify: (client, done) => client.query('deallocate all', (error) => done(error)),
    })
    pool.on('error', onError)
    pool.on('connect', (client) => client.on('error', onError))
    const vacuum = startVacuum(pool, onError)
    const close = async () => {
      await vacuum.stop()
      await pool.end()
      await lite.close()
      lock.release()
    }
    const copyTo = async (target: string) => {
      // The only connection: nothing writes while this holds it.
      const client = await pool.connect()
      try {
        await client.query('checkpoint')
        await copyFolder(folder, target)
      } finally {
        client.release()
      }
    }
    const parts = {
      copyTo,
      pool,
      db: drizzle(withPreparedStatements(pool)),
      url: placeholderUrl,
      signals: createLocalSignals(),
      close,
    }
    return createDatabase({ kind: 'embedded', ...parts }, { assertDiskSpace, onError })
  } catch (error) {
    lock.release()
    throw error
  }
}

/** A folder with files but without PG_VERSION is a database that was copied in part: never replace it. */
async function assertComplete(folder: string): Promise<void> {
  if (exists(join(folder, 'PG_VERSION')) || (await listFolder(folder)).length === 0) return
  throw damagedDatabase(folder, 'PG_VERSION is missing, so it is not a complete copy')
}

const damagedDatabase = (folder: string, why: string, cause?: unknown): RalphError =>
  new RalphError('DATABASE_DAMAGED', `the embedded database is damaged: ${why}; nothing was replaced`, {
    place: { file: folder },
    hint: 'put a copy of this folder back; or move it away and restore the newest of backups/ beside it (ralph backup restore FILE): machines report from their journals what came later',
    cause,
  })

const oneConnection = { max: 1, idleTimeoutMillis: 0 }

function lockDataFolder(path: string): FileLock {
  const taken = lockFile(path, `process ${process.pid}`)
  if ('lock' in taken) return taken.lock
  throw new RalphError('DATA_FOLDER_IN_USE', `the data folder is in use by ${taken.owner}`, {
    place: { file: path },
    hint: 'one backend at a time can use a data folder; stop the other one, or use a Postgres server (DATABASE_URL)',
  })
}

const ignoreError = () => {}
