import { join, resolve } from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'
import { RalphError } from '../../contract/errors.ts'
import { type FileLock, lockFile } from '../../platform/files/file-lock.ts'
import { makePrivateFolder } from '../../platform/files/files.ts'
import { databaseOn, remembering, type Database } from './database.ts'
import { embeddedSession } from './embedded-session.ts'
import { migrate } from './migrate.ts'
import { openLite } from './open-lite.ts'
import { placeReady } from './place-ready.ts'
import { roomIn } from './room.ts'
import { localSignals, openSignals } from './signals.ts'
import { tidyEvery } from './tidy.ts'

/** A folder of ours (one process, nothing to set up), or a Postgres server that any number of replicas share. */
export type DatabasePlace = EmbeddedPlace | { readonly url: string }

type EmbeddedPlace = {
  readonly dataFolder: string
  /** An empty database to begin with (bin/database.br); absent: Postgres makes one, which takes seconds and 500 MB. */
  readonly ready?: string
}

export type DatabaseOptions = {
  /** The folder with the numbered SQL files. */
  readonly migrations: string
  /** Connections to a server; DBOS and we share them. */
  readonly connections?: number
  /** A connection was lost. The pool makes a new one. */
  readonly onTrouble?: (error: Error) => void
}

/** Opens the database and brings it up to date. Who opens it owns it until `close`. */
export async function openDatabase(place: DatabasePlace, options: DatabaseOptions): Promise<Database> {
  const opened = 'url' in place ? await openServer(place.url, options) : await openEmbedded(place, options)
  try {
    await migrate(opened, options.migrations)
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

const oldestServer = 150_000

async function openServer(url: string, { connections = 12, onTrouble = ignore }: DatabaseOptions): Promise<Database> {
  // A frozen replica must not hold row locks for longer than its death takes to be noticed.
  const pool = new Pool({ connectionString: url, max: connections, keepAlive: true, ...sessionLimits })
  pool.on('error', onTrouble)
  pool.on('connect', (client) => client.on('error', onTrouble))
  try {
    const { rows } = await pool.query<{ version: string }>(`select current_setting('server_version_num') as version`)
    if (Number(rows[0]?.version) < oldestServer) {
      throw new RalphError('DATABASE_UNAVAILABLE', 'the database is older than PostgreSQL 15')
    }
    const signals = await openSignals(url, pool, onTrouble)
    const close = async () => {
      await signals.close()
      await pool.end()
    }
    return databaseOn({ kind: 'postgres', pool, db: drizzle(remembering(pool)), url, signals, close })
  } catch (error) {
    await pool.end()
    throw error instanceof RalphError ? error : unavailable(error)
  }
}

const sessionLimits = { idle_in_transaction_session_timeout: 3000, connectionTimeoutMillis: 10_000 }

const unavailable = (cause: unknown): RalphError =>
  new RalphError('DATABASE_UNAVAILABLE', `cannot reach the database: ${messageOf(cause)}`, { cause })

/**
 * Postgres inside this process. It takes no lock of its own, and two processes would destroy each other's data, so the lock is
 * ours. It has one connection: whoever holds it must not wait for anybody else who wants it.
 */
async function openEmbedded(place: EmbeddedPlace, { onTrouble = ignore }: DatabaseOptions): Promise<Database> {
  const dataFolder = resolve(place.dataFolder)
  const folder = join(dataFolder, 'database')
  await makePrivateFolder(dataFolder)
  const lock = own(join(dataFolder, 'database.lock'))
  const mustHaveRoom = roomIn(dataFolder)
  try {
    await mustHaveRoom()
    if (place.ready !== undefined) await placeReady(place.ready, folder)
    await makePrivateFolder(folder)
    const lite = await openLite(folder)
    const pool = new Pool({ user: 'postgres', database: 'postgres', stream: embeddedSession(lite), ...oneConnection })
    pool.on('error', onTrouble)
    pool.on('connect', (client) => {
      client.on('error', onTrouble)
      // The session is the same for all connections, and so are the names of its statements.
      client.query('deallocate all').catch(onTrouble)
    })
    const tidying = tidyEvery(pool, onTrouble)
    const close = async () => {
      await tidying.stop()
      await pool.end()
      await lite.close()
      lock.release()
    }
    const parts = { pool, db: drizzle(remembering(pool)), url: nowhere, signals: localSignals(), close }
    return databaseOn({ kind: 'embedded', ...parts }, mustHaveRoom)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** There is no address: whoever wants to talk to it uses the pool. */
const nowhere = 'postgresql://postgres@localhost/postgres'

const oneConnection = { max: 1, idleTimeoutMillis: 0 }

function own(path: string): FileLock {
  const taken = lockFile(path, `process ${process.pid}`)
  if ('lock' in taken) return taken.lock
  throw new RalphError('DATA_FOLDER_IN_USE', `the data folder is in use by ${taken.owner}`, {
    place: { file: path },
    hint: 'one backend at a time can use a data folder; stop the other one, or use a Postgres server (DATABASE_URL)',
  })
}

const ignore = () => {}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message || cause.name : String(cause))
