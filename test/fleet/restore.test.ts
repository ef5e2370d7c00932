import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import { expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../src/backend/database/database.ts'
import { openDatabase } from '../../src/backend/database/open-database.ts'
import { enqueuePrompt } from '../../src/backend/prompts/prompts.ts'
import { startRalphMode } from '../../src/backend/sprints/ralph-mode.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { locked, simulatedMachine } from '../support/simulated-machine.ts'
import { createTestFleet, createTestAgent, migrations, waitUntil } from './test-fleet.ts'

const run = promisify(execFile)
const requester = { name: 'ada' }
/** Version of the installed pg_dump, which refuses newer servers. */
const dumpVersion = await run('pg_dump', ['--version']).then(
  ({ stdout }) => Number(/\d+/.exec(stdout)?.[0]),
  () => 0,
)

const opened = async (url: string): Promise<Database> => {
  const database = await openDatabase({ url }, { migrations })
  onTestFinished(() => database.close(), 60_000)
  return database
}

/** In its second prompt when the backup is made; a prompt of a user waits behind it. */
async function createBusyAgent(url: string) {
  const database = await opened(url)
  const { fleet } = await createTestFleet(database)
  const never = new Promise<never>(() => {})
  const agent = await createTestAgent(fleet, {
    attempt: (_, number) => (number === 2 ? never : locked({ exists: true })),
  })
  await startRalphMode(fleet, agent.id, { taskDescription: 'Ship it', ifBusy: 'interrupt' }, requester)
  await waitUntil(
    agent.prompts,
    (rows) => rows.filter(({ status }) => status === 'running').length === 1 && rows.length === 2,
  )
  await enqueuePrompt(fleet, agent.id, { prompt: 'And the docs?' }, requester)
  await agent.machine.close()
  return { database, fleet, machineId: agent.machine.id, agentId: agent.id }
}

/** Number of rows per table, except those that change with every start. */
async function countRows({ db }: Database): Promise<Record<string, number>> {
  const { rows } = await db.execute<{ name: string }>(sql`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_name not in ('executor', 'migration') order by 1`)
  const counted = rows.map(async ({ name }) => {
    const { rows: found } = await db.execute<{ count: number }>(sql`select count(*)::int from ${sql.identifier(name)}`)
    return [name, found[0]?.count ?? -1] as const
  })
  return Object.fromEntries(await Promise.all(counted))
}

/**
 * The copy has everything, and the agent continues where it was: its machine receives the prompt that it does not know.
 */
async function expectToContinue(url: string, before: Record<string, number>, machineId: string) {
  const database = await opened(url)
  expect(await countRows(database)).toEqual(before)
  const { fleet } = await createTestFleet(database)
  onTestFinished(fleet.close, 60_000)
  const done = simulatedMachine(fleet, machineId, { attempt: () => locked({ exists: false, outcome: 'done' }) })
  await done.connect()
  const look = async () => {
    const { rows } = await database.db.execute<{ by: string; status: string }>(sql`
      select by, status from agent_prompt order by created_at, iteration`)
    return rows
  }
  const rows = await waitUntil(look, (all) => all.every(({ status }) => status === 'finished'))
  const { rows: sprints } = await database.db.execute(sql`select status from sprint`)
  // No state from before the backup hides new events from clients.
  const { rows: hidden } = await database.db.execute(sql`
    select 1 from event where tx >= pg_snapshot_xmax(pg_current_snapshot())`)
  await done.close()
  return { prompts: rows.map(({ by }) => by), sprints, hidden }
}

const whole = { prompts: ['ralph', 'ralph', 'ada'], sprints: [{ status: 'completed' }], hidden: [] }

async function another(options: Parameters<typeof startPostgres>[0] = {}): Promise<TestPostgres> {
  const server = await startPostgres(options)
  onTestFinished(server.stop, 60_000)
  return server
}

it('continues with the files of a crashed server, on another server', async () => {
  const server = await another({ isDurable: true })
  const url = await server.makeDatabase()
  const { database, fleet, machineId } = await createBusyAgent(url)
  await fleet.close()
  const before = await countRows(database)
  await server.crash()
  const restored = await another({ copyFrom: server.data })
  expect(await expectToContinue(restored.url(url), before, machineId)).toEqual(whole)
}, 240_000)

it('continues with a dump made during work, on another server', async ({ skip }) => {
  const server = await another()
  const url = await server.makeDatabase()
  const { database, fleet, machineId } = await createBusyAgent(url)
  const { rows } = await database.db.execute<{ version: number }>(sql`
    select current_setting('server_version_num')::int / 10000 as version`)
  if (dumpVersion < (rows[0]?.version ?? 0)) {
    await fleet.close()
    skip('there is no pg_dump for this server')
  }
  const folder = await mkdtemp(join(tmpdir(), 'ralph-dump-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'dump.sql')
  // The stored transaction numbers are far ahead of those of the new server.
  for (let time = 0; time < 50; time++) await database.db.execute(sql`select pg_current_xact_id()`)
  const before = await countRows(database)
  await run('pg_dump', ['--no-owner', '-f', file, url])
  await fleet.close()
  const fresh = await another()
  const restored = await fresh.makeDatabase()
  await run('psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-f', file, restored])
  expect(await expectToContinue(restored, before, machineId)).toEqual(whole)
}, 240_000)
