import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { createTestAuthority } from '../../../test/support/certificate-authority.ts'
import { migrations } from '../../../test/fleet/test-fleet.ts'
import { startPostgres, testPostgres, type TestPostgres } from '../../../test/support/postgres.ts'
import { openEngine } from '../engine/open-engine.ts'
import { isDatabaseUnavailable } from './database-unavailable.ts'
import { openDatabase } from './open-database.ts'
import { createOutageWatch, probeWrite, type OutageWatch } from './outage.ts'

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

// A disk that is really full is in test/fleet/outage.test.ts: Postgres reports it with this state.
const fillDisk = (url: string) =>
  query(
    url,
    `create function fail() returns event_trigger language plpgsql as
       $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
    'create event trigger full_disk on ddl_command_start execute function fail()',
  )

it('says that the disk of the server is full', async () => {
  const url = await migrated()
  await fillDisk(url)
  await expect(open(url)).rejects.toMatchObject(
    refusal('DATABASE_UNAVAILABLE', /^the disk of the database is full: .*No space left/, /free space/),
  )
})

it('logs one line when the disk fills up while the backend runs, and one when there is space again', async () => {
  const url = await migrated()
  const lines: string[] = []
  const own: { watch?: OutageWatch } = {}
  const database = await openDatabase({ url }, { migrations, onError: (error) => void own.watch?.covers(error) })
  onTestFinished(() => database.close())
  const times = { probeIntervalMs: 20, quietMs: 100 }
  const log = (text: string) => void lines.push(text)
  const watch = createOutageWatch({ probe: () => probeWrite(database), log, now: () => Date.now(), times })
  own.watch = watch
  onTestFinished(watch.close)

  await probeWrite(database)
  await fillDisk(url)
  for (let n = 0; n < 3; n++) await expect(probeWrite(database)).rejects.toThrow('No space left')
  expect(watch.covers(new Error('Error listing queues: connect ECONNREFUSED 127.0.0.1:5432'))).toBe(true)
  expect(watch.covers(new Error('a defect'))).toBe(false)
  expect(lines).toEqual([expect.stringMatching(/^the disk of the database is full: .*; agents continue.*free space/)])
  await query(url, 'drop event trigger full_disk')
  await expect.poll(() => lines.slice(1)).toEqual([expect.stringMatching(/^the database works again, after \d+ s$/)])
})

it('asks the database what is wrong if the engine, which passes on only texts, is the first to notice', async () => {
  const url = await migrated()
  const lines: string[] = []
  const database = await openDatabase({ url }, { migrations })
  onTestFinished(() => database.close())
  const log = (text: string) => void lines.push(text)
  const watch = createOutageWatch({ probe: () => probeWrite(database), log, now: () => Date.now() })
  onTestFinished(watch.close)
  expect(watch.covers(new Error('listing queues: connect ECONNREFUSED 127.0.0.1:5432'))).toBe(true)
  await expect.poll(() => lines).toEqual(['listing queues: connect ECONNREFUSED 127.0.0.1:5432'])
  await fillDisk(url)
  expect(watch.covers(new Error('listing queues: could not extend file: No space left on device'))).toBe(true)
  await expect.poll(() => lines.slice(1)).toEqual([expect.stringMatching(/^the disk of the database is full: /)])
})

it('names what is wrong with the certificate of the server, when it is opened and while it runs', async () => {
  const authority = await createTestAuthority()
  const folder = await mkdtemp(join(tmpdir(), 'ralph-database-ca-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'ca.pem'), authority.ca)
  const own = await startPostgres({ certificate: await authority.issue('localhost') })
  onTestFinished(own.stop)
  const name = databaseName(await own.makeDatabase())
  const at = (host: string, more = '') => `postgres://postgres@${host}:${own.port}/${name}?sslmode=verify-full${more}`
  const trusted = `&sslrootcert=${encodeURIComponent(join(folder, 'ca.pem'))}`

  await expect(open(at('localhost'))).rejects.toMatchObject(
    refusal('DATABASE_UNAVAILABLE', /^the certificate of the database is not trusted: /, /DATABASE_URL.*sslrootcert/),
  )
  await expect(open(at('127.0.0.1', trusted))).rejects.toMatchObject(
    refusal(
      'DATABASE_UNAVAILABLE',
      /^the certificate of the database is for another name: .*127\.0\.0\.1/,
      /a name of/,
    ),
  )
  const running = await open(at('localhost', trusted))
  onTestFinished(() => running.close())
  const until = Date.UTC(2025, 0, 31)
  await own.certify(await authority.issue('localhost', { from: until - 86_400_000, until }))
  await expect
    .poll(() => open(at('localhost', trusted)).catch((error: unknown) => error))
    .toMatchObject(refusal('DATABASE_UNAVAILABLE', /^the certificate of the database is not valid now: /, /renew/))
  const busy = Array.from({ length: 20 }, () => running.db.execute('select pg_sleep(0.2)'))
  const failed = (await Promise.allSettled(busy)).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(failed.length).toBeGreaterThan(0)
  expect(failed.filter((error) => !isDatabaseUnavailable(error))).toEqual([])
})

it('refuses what is no URL of Postgres, without showing its password', async () => {
  for (const url of ['mysql://ralph@db/ralph', 'postgres://ralph:p#ss@db/ralph', 'db.example.com']) {
    const failure = await open(url).catch((error: unknown) => error)
    expect(failure).toMatchObject(refusal('DATABASE_UNAVAILABLE', /^DATABASE_URL is not the URL/, /^write postgres:/))
    expect(String(failure)).not.toContain('p#ss')
  }
})

it('accepts every URL that pg accepts: a socket, and a scheme in upper case', async () => {
  for (const url of ['socket:/nowhere?db=ralph', 'SOCKET:/nowhere?db=ralph', 'POSTGRES://ralph@/ralph?host=/nowhere'])
    await expect(open(url)).rejects.toMatchObject(
      refusal('DATABASE_UNAVAILABLE', /^cannot reach the database: connect ENOENT \/nowhere\//, /start the database/),
    )
})

it('runs the engine through the socket of a server', async () => {
  const url = new URL(await server.makeDatabase())
  const socket = `socket:${url.searchParams.get('host')}?db=${databaseName(url.href)}&user=${url.username}`
  const database = await open(socket)
  onTestFinished(() => database.close())
  const engine = await openEngine(database, { handlers: {}, onLost: () => {} })
  onTestFinished(() => engine.close())
  const { rows } = await database.db.execute('select count(*)::int from dbos.workflow_status')
  expect(rows).toEqual([{ count: 0 }])
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
