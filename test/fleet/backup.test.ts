import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { checkBackup, restoreBackup } from '../../src/backend/backup/restore-backup.ts'
import { writeBackup } from '../../src/backend/backup/write-backup.ts'
import type { Database } from '../../src/backend/database/database.ts'
import { openDatabase, openDatabaseAsIs } from '../../src/backend/database/open-database.ts'
import { enqueuePrompt } from '../../src/backend/prompts/prompts.ts'
import { startRalphMode } from '../../src/backend/sprints/ralph-mode.ts'
import { afterFile } from '../support/after-file.ts'
import { root } from '../support/paths.ts'
import { testPostgres } from '../support/postgres.ts'
import { locked, simulatedMachine } from '../support/simulated-machine.ts'
import { buildOutcome } from '../support/virtual.ts'
import {
  createAnotherTestAgent,
  createTestAgent,
  createTestDatabase,
  createTestFleet,
  kinds,
  migrations,
  waitUntil,
  type Kind,
} from './test-fleet.ts'

const folder = mkdtempSync(join(tmpdir(), 'ralph-backups-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const about = { ralph: '1.2.3', now: Date.UTC(2026, 0, 1) }
const requester = { name: 'ada' }

async function emptyDatabase(kind: Kind): Promise<Database> {
  const data = await mkdtemp(join(tmpdir(), 'ralph-empty-'))
  afterFile(() => rm(data, { recursive: true, force: true }))
  const template = join(root, 'bin/database.br')
  const place =
    kind === 'embedded' ? { dataFolder: data, template } : { url: await (await testPostgres()).makeDatabase() }
  const database = await openDatabaseAsIs(place, {})
  afterFile(database.close)
  return database
}

type PromptRow = { readonly id: string; readonly status: string }

const readPrompts = async ({ db }: Database): Promise<PromptRow[]> =>
  (await db.execute<PromptRow>(sql`select id::text, status from agent_prompt`)).rows

/** Agents at work: one in Ralph Mode, others with a growing queue of prompts, until the test ends it. */
async function createLoad(database: Database) {
  const { fleet } = await createTestFleet(database)
  const slow = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return undefined
  }
  const attempt = async () => {
    await slow()
    return locked({ exists: true })
  }
  const first = await createTestAgent(fleet, { attempt, text: async () => (await slow(), okOutcome) })
  await startRalphMode(fleet, first.id, { taskDescription: 'Ship it', ifBusy: 'interrupt' }, requester)
  const others = await Promise.all([1, 2].map(() => createAnotherTestAgent(fleet, first.machine.id)))
  const committed: string[] = []
  const running = { isOver: false }
  const enqueue = async () => {
    for (let number = 0; !running.isOver; number++) {
      const agent = others[number % others.length]
      if (!agent) return
      committed.push((await enqueuePrompt(fleet, agent.id, { prompt: `prompt ${number}` }, requester)).id)
      await slow()
    }
  }
  const done = enqueue()
  const end = async () => {
    running.isOver = true
    await done
    await first.machine.close()
    await fleet.close()
  }
  return { committed, end, machineId: first.machine.id }
}

const okOutcome = buildOutcome({ text: 'done' })

describe.each([
  ['embedded', 'embedded'],
  ['embedded', 'postgres'],
  ['postgres', 'postgres'],
  ['postgres', 'embedded'],
] as const)('a backup of %s, made under load and restored into another %s database', (from, to) => {
  it('has every committed prompt, and runs none of them twice', async () => {
    const source = await createTestDatabase(from)
    const load = await createLoad(source)
    await waitUntil(
      async () => load.committed.length,
      (count) => count > 30,
    )
    const before = [...load.committed]
    const file = join(folder, `${from}-${to}.backup`)
    const made = await writeBackup(source, file, about)
    await waitUntil(
      async () => load.committed.length,
      (count) => count > before.length + 5,
    )
    await load.end()

    expect(await checkBackup(file)).toEqual({
      rows: made.rows,
      sha256: made.sha256,
      ralph: '1.2.3',
      createdAt: '2026-01-01T00:00:00.000Z',
      migrations: readdirSync(migrations).length,
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const target = await emptyDatabase(to)
    expect((await restoreBackup(target, file, migrations)).rows).toBe(made.rows)
    const restored = await readPrompts(target)
    const ids = new Set(restored.map(({ id }) => id))
    expect(before.filter((id) => !ids.has(id))).toEqual([])
    const finished = restored.filter(({ status }) => status === 'finished').map(({ id }) => id)
    expect(finished.length).toBeGreaterThan(5)

    const { fleet, errors } = await createTestFleet(target)
    onTestFinished(fleet.close, 60_000)
    const machine = simulatedMachine(fleet, load.machineId, {
      attempt: () => locked({ exists: false, outcome: 'done' }),
      text: () => okOutcome,
    })
    await machine.connect()
    await waitUntil(
      () => readPrompts(target),
      (rows) => rows.every(({ status }) => status === 'finished' || status === 'cancelled' || status === 'failed'),
      60_000,
    )
    await machine.close()
    const sent = machine.state.prompts.map(({ promptId }) => promptId)
    expect({
      twice: sent.filter((id, index) => sent.indexOf(id) !== index),
      again: sent.filter((id) => finished.includes(id)),
      overlaps: machine.state.overlaps,
      errors: errors.filter((text) => !text.startsWith('machine')),
    }).toEqual({ twice: [], again: [], overlaps: 0, errors: [] })
  }, 240_000)
})

describe('a backup', () => {
  it('is refused if it is cut off, changed, or not one', async () => {
    const database = await createTestDatabase('embedded')
    const file = join(folder, 'whole.backup')
    await writeBackup(database, file, about)
    const whole = readFileSync(file)
    const damage = (name: string, bytes: Uint8Array): string => {
      const path = join(folder, name)
      writeFileSync(path, bytes)
      return path
    }
    const text = gunzipSync(whole).toString()
    const lines = text.trimEnd().split('\n')
    const refusal = (path: string) =>
      checkBackup(path).then(
        () => 'accepted',
        (error: Error & { code?: string }) => error.code,
      )
    expect([
      await refusal(file),
      await refusal(damage('cut', whole.subarray(0, whole.length / 2))),
      await refusal(damage('flipped', Buffer.from(whole.map((byte, at) => (at === 900 ? byte ^ 1 : byte))))),
      await refusal(damage('changed', gzipSync(text.replace('"1.2.3"', '"1.2.4"')))),
      await refusal(damage('shorter', gzipSync(`${lines.slice(0, -1).join('\n')}\n`))),
      await refusal(damage('text', Buffer.from('hello'))),
      await refusal(damage('empty', Buffer.from(''))),
    ]).toEqual(['accepted', ...Array.from({ length: 6 }, () => 'BACKUP_DAMAGED')])
  }, 120_000)

  it('is not restored over data, nor by a version that lacks one of its migrations', async () => {
    const database = await createTestDatabase('embedded')
    const file = join(folder, 'newer.backup')
    await writeBackup(database, file, about)
    await database.pool.query(
      `insert into "user" (id, name, role, created_at) values (gen_random_uuid(), 'a', 'admin', now())`,
    )
    await expect(restoreBackup(database, file, migrations)).rejects.toMatchObject({ code: 'DATABASE_IN_USE' })
    const older = await mkdtemp(join(tmpdir(), 'ralph-older-'))
    afterFile(() => rm(older, { recursive: true, force: true }))
    await cp(join(migrations, '0001-fleet.sql'), join(older, '0001-fleet.sql'))
    const empty = await emptyDatabase('embedded')
    await expect(restoreBackup(empty, file, older)).rejects.toMatchObject({
      code: 'DATABASE_NEWER',
      message: 'ralph 1.2.3 made this backup, with 0002-resume.sql, which this version lacks',
      hint: 'restore it with ralph 1.2.3 or newer',
    })
  }, 120_000)

  it('of an older version gets the newer migrations when the backend starts on it', async () => {
    const older = await mkdtemp(join(tmpdir(), 'ralph-older-'))
    const data = await mkdtemp(join(tmpdir(), 'ralph-older-data-'))
    afterFile(() => Promise.all([older, data].map((path) => rm(path, { recursive: true, force: true }))))
    for (const name of ['0001-fleet.sql', '0002-resume.sql']) await cp(join(migrations, name), join(older, name))
    const old = await openDatabase({ dataFolder: data }, { migrations: older })
    await old.pool.query(
      `insert into "user" (id, name, role, created_at) values (gen_random_uuid(), 'ada', 'admin', now())`,
    )
    const file = join(folder, 'older.backup')
    await writeBackup(old, file, about)
    await old.close()
    const target = await mkdtemp(join(tmpdir(), 'ralph-newer-data-'))
    afterFile(() => rm(target, { recursive: true, force: true }))
    const fresh = await openDatabaseAsIs({ dataFolder: target }, {})
    await restoreBackup(fresh, file, migrations)
    await fresh.close()
    const newer = await openDatabase({ dataFolder: target }, { migrations })
    onTestFinished(newer.close)
    const { rows } = await newer.pool.query(
      `select name, (select count(*)::int from machine_grant) as grants from "user"`,
    )
    expect(rows).toEqual([{ name: 'ada', grants: 0 }])
  }, 120_000)
})

it.each(kinds)(
  'knows the tables of the %s database',
  async (kind) => {
    const database = await createTestDatabase(kind)
    const file = join(folder, `tables-${kind}.backup`)
    await writeBackup(database, file, about)
    const [header = ''] = gunzipSync(readFileSync(file)).toString().split('\n')
    const { tables }: { tables: { schema: string; name: string }[] } = JSON.parse(header)
    expect(tables.filter(({ schema }) => schema === 'public').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['agent', 'agent_prompt', 'audit', 'authority', 'event', 'machine', 'sprint', 'user']),
    )
  },
  120_000,
)
