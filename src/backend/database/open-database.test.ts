import { mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile, cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase, createDataFolder, kinds, migrations } from '../../../test/fleet/test-fleet.ts'
import { packFolder } from '../../platform/files/folder-archive.ts'
import * as agent from './agent.ts'
import * as agentPrompt from './agent-prompt.ts'
import * as audit from './audit.ts'
import type { Database } from './database.ts'
import * as event from './event.ts'
import * as executor from './executor.ts'
import * as machine from './machine.ts'
import * as machineGrant from './machine-grant.ts'
import { openDatabase } from './open-database.ts'
import * as push from './push.ts'
import * as question from './question.ts'
import * as sprint from './sprint.ts'
import * as usage from './usage.ts'
import * as user from './user.ts'
import * as webhook from './webhook.ts'

const nouns = [
  agent,
  agentPrompt,
  audit,
  event,
  executor,
  machine,
  machineGrant,
  push,
  question,
  sprint,
  usage,
  user,
  webhook,
]

const openTestDatabase = async (...args: Parameters<typeof openDatabase>): Promise<Database> => {
  const database = await openDatabase(...args)
  onTestFinished(() => database.close())
  return database
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'ralph-test-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

/** A template database as the build creates it. */
async function createTemplate(): Promise<string> {
  const file = join(await folder(), 'database.br')
  await writeFile(file, await packFolder(join(await createDataFolder(), 'database')))
  return file
}

describe.each(kinds)('a database of kind %s', (kind) => {
  it('has the tables and columns that the schema declares', async () => {
    const { db } = await createTestDatabase(kind)
    const { rows } = await db.execute<{ name: string; column: string; required: boolean }>(
      `select table_name as name, column_name as column, is_nullable = 'NO' as required
       from information_schema.columns where table_schema = 'public' and table_name <> 'migration'`,
    )
    const inDatabase = rows.map(({ name, column, required }) => `${name}.${column}${required ? ' not null' : ''}`)
    const tables = nouns.flatMap((noun) => Object.values<unknown>(noun)).filter((table) => table instanceof PgTable)
    const inCode = tables.flatMap((table) => {
      const { name, columns, primaryKeys } = getTableConfig(table)
      const keys = primaryKeys.flatMap((key) => key.columns.map((column) => column.name))
      return columns.map((column) => {
        const required = column.notNull || column.primary || keys.includes(column.name)
        return `${name}.${column.name}${required ? ' not null' : ''}`
      })
    })
    expect(inCode.toSorted()).toEqual(inDatabase.toSorted())
  }, 120_000)
})

describe('a data folder', () => {
  it('belongs to one process at a time, and the error names its owner', async () => {
    const place = { dataFolder: await createDataFolder() }
    const first = await openDatabase(place, { migrations })
    await expect(openDatabase(place, { migrations })).rejects.toMatchObject({ code: 'DATA_FOLDER_IN_USE' })
    await first.close()
    await openTestDatabase(place, { migrations })
    expect((await stat(join(place.dataFolder, 'database'))).mode & 0o777).toBe(0o700)
  })

  it('starts as a complete copy of the template, even after a first start that was killed', async () => {
    const place = await folder()
    for (const name of ['database', 'database.new-1']) await mkdir(join(place, name))
    await writeFile(join(place, 'database.new-1', 'PG_VERSION'), '18')
    const { db } = await openTestDatabase({ dataFolder: place, template: await createTemplate() }, { migrations })
    expect((await db.execute('select count(*)::int from agent')).rows).toEqual([{ count: 0 }])
    expect((await readdir(place)).toSorted()).toEqual(['database', 'database.lock'])
  })

  it('stays empty if the template is damaged or missing', async () => {
    const ready = await createTemplate()
    await truncate(ready, Math.floor((await stat(ready)).size / 2))
    const place = { dataFolder: await folder(), template: ready }
    const failed = { code: 'DATABASE_UNAVAILABLE', place: { file: ready } }
    await expect(openDatabase(place, { migrations })).rejects.toMatchObject(failed)
    await rm(ready)
    await expect(openDatabase(place, { migrations })).rejects.toMatchObject(failed)
    expect(await readdir(place.dataFolder)).not.toContain('database')
  })

  it('D3, D15: is never replaced if it is damaged, and the error says how to recover', async () => {
    const place = { dataFolder: await createDataFolder(), template: await createTemplate() }
    const files = join(place.dataFolder, 'database')
    const listed = await readdir(files)
    await writeFile(join(files, 'global', 'pg_control'), '')
    const damaged = { code: 'DATABASE_DAMAGED', hint: expect.stringContaining('put a copy') }
    await expect(openDatabase(place, { migrations })).rejects.toMatchObject(damaged)
    await rm(join(files, 'PG_VERSION'))
    await expect(openDatabase(place, { migrations })).rejects.toMatchObject({
      ...damaged,
      message: expect.stringContaining('PG_VERSION is missing'),
    })
    expect(await readdir(files)).toEqual(expect.arrayContaining(listed.filter((name) => name !== 'PG_VERSION')))
  })

  it('is reported as damaged if a file of a table was cut off, as after a power cut', async () => {
    const place = { dataFolder: await createDataFolder() }
    const { pool, close } = await openDatabase(place, { migrations })
    const { rows } = await pool.query(`select pg_relation_filepath('migration_pkey') as path`)
    await close()
    await truncate(join(place.dataFolder, 'database', String(rows[0]?.path)), 8192)
    await expect(openDatabase(place, { migrations })).rejects.toMatchObject({
      code: 'DATABASE_DAMAGED',
      message: expect.stringContaining('could not read block'),
      hint: expect.stringContaining('ralph backup restore'),
    })
  })

  it('of a newer version works with older ones, unless a migration is breaking', async () => {
    const place = { dataFolder: await createDataFolder() }
    const newer = await folder()
    await cp(migrations, newer, { recursive: true })
    const count = (await readdir(newer)).length
    const name = (number: number) => `${String(number).padStart(4, '0')}-more.sql`
    const write = (number: number, text: string) => writeFile(join(newer, name(number)), text)
    await write(count + 1, 'create table more (id int)')
    await (await openDatabase(place, { migrations: newer })).close()
    await (await openDatabase(place, { migrations })).close()
    await write(count + 2, '-- breaking: unused\ndrop table more')
    await (await openDatabase(place, { migrations: newer })).close()
    const refused = { code: 'DATABASE_NEWER', message: expect.stringContaining(name(count + 2)) }
    await expect(openDatabase(place, { migrations })).rejects.toMatchObject(refused)
    await write(count + 1, 'create table other (id int)')
    await expect(openDatabase(place, { migrations: newer })).rejects.toMatchObject({ code: 'DATABASE_NEWER' })
  })

  it('is migrated completely or not at all', async () => {
    const place = { dataFolder: await createDataFolder() }
    const broken = await folder()
    for (const name of await readdir(migrations)) await cp(join(migrations, name), join(broken, name))
    const count = (await readdir(broken)).length
    await writeFile(
      join(broken, `${`${count + 1}`.padStart(4, '0')}-broken.sql`),
      'create table more (id int); create nonsense',
    )
    await expect(openDatabase(place, { migrations: broken })).rejects.toThrow('syntax error')
    const { db } = await openTestDatabase(place, { migrations })
    expect((await db.execute(`select to_regclass('more') as more`)).rows).toEqual([{ more: null }])
  })
})

describe('a transaction', () => {
  it('that can wait yields to later ones', async () => {
    const { transaction, aside } = await createTestDatabase('embedded')
    const order: string[] = []
    const note = (name: string) => async () => void order.push(name)
    await Promise.all([aside(note('one')), aside(note('two')), aside(note('three')), transaction(note('prompt'))])
    expect(order).toEqual(['one', 'prompt', 'two', 'three'])
  })

  it('retries after a conflict, and runs afterCommit only after the commit', async () => {
    const { transaction, db } = await createTestDatabase('embedded')
    const committed: string[] = []
    let tries = 0
    await transaction(async (tx) => {
      const number = ++tries
      tx.afterCommit(() => committed.push(`try ${number}`))
      if (number === 1) throw Object.assign(new Error('serialization'), { code: '40001' })
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(committed).toEqual(['try 2'])
    await expect(transaction(async (tx) => void (await tx.db.execute('select nonsense')))).rejects.toThrow('nonsense')
    expect((await db.execute('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('cannot change the audit log', async () => {
    const { db } = await createTestDatabase('embedded')
    await db.insert(audit.audit).values({ at: 0, who: 'ada', what: 'something' })
    const change = db.update(audit.audit).set({ who: 'eve' })
    await expect(change.then(() => undefined)).rejects.toMatchObject({
      cause: { message: 'the audit log is only added to' },
    })
  })
})
