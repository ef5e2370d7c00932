import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDataFolder } from '../../../../test/fleet/test-fleet.ts'
import { createEmbeddedSession } from './embedded-session.ts'

let lite: PGlite
let session: ReturnType<typeof createEmbeddedSession>
beforeAll(async () => {
  lite = await PGlite.create({ dataDir: join(await createDataFolder(), 'database') })
  session = createEmbeddedSession(lite)
}, 120_000)
afterAll(() => lite.close())

async function connected(): Promise<Client> {
  const client = new Client({ user: 'postgres', database: 'postgres', stream: session })
  await client.connect()
  return client
}

const ids = async (client: Client) => (await client.query('select id from t order by id')).rows.map(({ id }) => id)

it('blocks other connections during a transaction, and rolls back when a connection is lost', async () => {
  const one = await connected()
  const two = await connected()
  await one.query('create table t (id int primary key)')
  await one.query('begin')
  await one.query('insert into t values ($1)', [1])
  const waits = two.query('insert into t values ($1)', [2]).then(() => ids(two))
  await one.query('insert into t values ($1)', [3])
  expect(await ids(one)).toEqual([1, 3])
  await one.query('commit')
  expect(await waits).toEqual([1, 2, 3])

  await one.query('begin')
  await one.query('delete from t')
  const after = ids(two)
  await one.end()
  expect(await after).toEqual([1, 2, 3])
  await two.end()
})

it('works after a failed statement, even one longer than any buffer', async () => {
  const client = await connected()
  await expect(client.query('select $1::int / 0', [1])).rejects.toMatchObject({ code: '22012' })
  const long = 'ä'.repeat(3_000_000)
  const { rows } = await client.query('select $1::text as text', [long])
  expect(rows[0].text === long).toBe(true)
  await client.end()
})
