import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Client } from 'pg'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { migrations } from '../../../test/fleet/test-fleet.ts'
import { startPostgres, testPostgres, type TestPostgres } from '../../../test/support/postgres.ts'
import { isDatabaseUnavailable } from './database-unavailable.ts'
import { openDatabase } from './open-database.ts'

/** Operators must read one line that says what is wrong with their Postgres, and what to do. */
let server: TestPostgres
beforeAll(async () => {
  server = await testPostgres()
})

async function query(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

const open = (url: string) => openDatabase({ url }, { migrations })
const migrated = async (): Promise<string> => {
  const url = await server.makeDatabase()
  await (await open(url)).close()
  return url
}
const databaseName = (url: string) => new URL(url).pathname.slice(1)
const refusal = (code: string, message: RegExp, hint: RegExp) => ({
  code,
  message: expect.stringMatching(message),
  hint: expect.stringMatching(hint),
})

it('says that the database is read-only, when it is opened and while it runs', async () => {
  const url = await migrated()
  const running = await open(url)
  onTestFinished(() => running.close())
  await query(url, `alter database ${databaseName(url)} set default_transaction_read_only = on`)
  await expect(open(url)).rejects.toMatchObject(
    refusal('DATABASE_UNAVAILABLE', /^the database is read-only: cannot execute/, /primary/),
  )
  const failure = await running
    .transaction(async ({ client }) => {
      await client.query('set transaction read only')
      await client.query('create table more (id int)')
    })
    .catch((error: unknown) => error)
  expect(isDatabaseUnavailable(failure)).toBe(true)
})

it('says that the user may not create tables, or may not connect', async () => {
  const url = await server.makeDatabase()
  await query(url, 'create role guest login')
  const asGuest = url.replace('postgres@', 'guest@')
  await expect(open(asGuest)).rejects.toMatchObject(
    refusal('DATABASE_UNAVAILABLE', /^the database user lacks rights: permission denied/, /owner/),
  )
  await expect(open(url.replace('postgres@', 'stranger@'))).rejects.toMatchObject(
    refusal('DATABASE_UNAVAILABLE', /^the database server refuses the connection: .*stranger/, /DATABASE_URL/),
  )
})

it('says that the disk of the server is full', async () => {
  const url = await migrated()
  // A disk that is really full is in no test: Postgres reports it with this state.
  await query(
    url,
    `create function fail() returns event_trigger language plpgsql as
       $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
    'create event trigger full_disk on ddl_command_start execute function fail()',
  )
  await expect(open(url)).rejects.toMatchObject(
    refusal('DATABASE_UNAVAILABLE', /^the disk of the database is full: .*No space left/, /free space/),
  )
})

it('refuses a database that is migrated only in part, and changes nothing', async () => {
  const url = await migrated()
  await query(url, 'delete from migration where number = 3')
  const damaged = (message: RegExp) => refusal('DATABASE_DAMAGED', message, /restore a complete backup/)
  await expect(open(url)).rejects.toMatchObject(damaged(/only in part: 0003\S+\.sql was not applied/))
  await query(url, 'delete from migration')
  await expect(open(url)).rejects.toMatchObject(damaged(/only in part: .* already exists, but 0001\S+\.sql/))
})

it('names the version of a server that is too old', async () => {
  const url = await startOldServer('14.10 (Debian 14.10-1)')
  await expect(open(url)).rejects.toMatchObject(
    refusal('DATABASE_UNAVAILABLE', /PostgreSQL 14\.10 \(Debian/, /PostgreSQL 15 or newer/),
  )
})

it('reports a server that ends during the migration', async () => {
  const own = await startPostgres()
  onTestFinished(own.stop)
  const url = await own.makeDatabase()
  const holder = new Client({ connectionString: url })
  holder.on('error', () => {})
  await holder.connect()
  // The migration waits for this lock, so the server ends in the middle of the start.
  await holder.query('select pg_advisory_lock(7226842031)')
  const opening = open(url).catch((error: unknown) => error)
  const waiting = `select from pg_locks where locktype = 'advisory' and not granted`
  while ((await holder.query(waiting)).rowCount === 0);
  await own.crash()
  expect(await opening).toMatchObject(
    refusal('DATABASE_UNAVAILABLE', /^cannot reach the database: /, /start the database/),
  )
})

/** Speaks just enough of the protocol of Postgres to answer one query with one text. */
async function startOldServer(version: string): Promise<string> {
  const oldServer = createServer((socket) => socket.on('data', (bytes) => answer(socket, bytes)).on('error', () => {}))
  const answer = (socket: Socket, bytes: Buffer) => {
    if (bytes[0] === 0) socket.write(Buffer.concat([message('R', int32(0)), ready]))
    else if (bytes[0] === 'Q'.charCodeAt(0)) {
      const column = Buffer.concat([
        int16(1),
        Buffer.from('version\0'),
        int32(0),
        int16(0),
        int32(25),
        int16(-1),
        int32(-1),
        int16(0),
      ])
      const row = Buffer.concat([int16(1), int32(version.length), Buffer.from(version)])
      socket.write(
        Buffer.concat([message('T', column), message('D', row), message('C', Buffer.from('SELECT 1\0')), ready]),
      )
    }
  }
  oldServer.listen(0, '127.0.0.1')
  await once(oldServer, 'listening')
  onTestFinished(() => void oldServer.close())
  const address = oldServer.address()
  return `postgresql://ralph@127.0.0.1:${typeof address === 'object' ? address?.port : ''}/ralph?sslmode=disable`
}

const int16 = (value: number) => toBuffer(2, (to) => to.writeInt16BE(value))
const int32 = (value: number) => toBuffer(4, (to) => to.writeInt32BE(value))
const message = (type: string, body: Buffer) => Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
const ready = message('Z', Buffer.from('I'))

function toBuffer(size: number, write: (to: Buffer) => void): Buffer {
  const made = Buffer.alloc(size)
  write(made)
  return made
}
