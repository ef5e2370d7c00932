import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/fleet/test-fleet.ts'
import type { Database } from '../database/database.ts'
import { machineOutbox, machines } from '../database/machine.ts'
import { createDatabaseStore } from './database-store.ts'
import type { MachineStore } from './machine-store.ts'

describe('the database store of a line', () => {
  let database: Database
  let store: MachineStore
  let now = 1000
  beforeAll(async () => {
    database = await createTestDatabase('postgres')
    store = createDatabaseStore(database, {
      now: () => now,
      newId: randomUUID,
      replicaId: () => 'us',
      onChange: async () => {},
    })
  }, 120_000)

  const createMachine = async (): Promise<string> => {
    const id = randomUUID()
    await database.db.insert(machines).values({ id, name: 'vm', status: 'active', createdAt: 1 })
    return id
  }
  const message = (machineId: string, messageId: string) => ({
    machineId,
    messageId,
    message: { type: 'reset', body: { agentId: randomUUID() } },
    createdAt: 1,
  })

  it('neither skips nor drops a message whose transaction commits late', async () => {
    const machineId = await createMachine()
    const outbox = store.outbox(machineId)
    const late = await database.pool.connect()
    await late.query('begin')
    await late.query(
      `insert into machine_outbox (machine_id, message_id, message, created_at)
       values ($1, 'late', '{"type": "reset", "body": {"agentId": "${randomUUID()}"}}', now())`,
      [machineId],
    )
    await database.db.insert(machineOutbox).values(message(machineId, 'early'))
    const sent = await outbox.pending(0, 10)
    await late.query('commit')
    late.release()
    const then = await outbox.pending(sent.at(-1)?.position ?? 0, 10)
    await outbox.acked(sent.at(-1)?.position ?? 0)

    expect([sent.map(({ id }) => id), then.map(({ id }) => id)]).toEqual([['early'], ['late']])
    expect((await store.outbox(machineId).pending(0, 10)).map(({ id }) => id)).toEqual(['late'])
  })

  it('reclaims a connection that was considered lost, unless a newer one exists or the machine was revoked', async () => {
    const machineId = await createMachine()
    const epoch = await store.connect(machineId, { bootEpoch: 1, bootId: randomUUID(), version: '1', clockSkewMs: 0 })
    const holder = async () => {
      const [row] = await database.db.select().from(machines).where(eq(machines.id, machineId))
      return row?.connectedTo
    }
    expect([await store.confirmConnection(machineId, epoch - 1), await holder()]).toEqual([false, null])
    expect([await store.confirmConnection(machineId, epoch), await holder()]).toEqual([true, 'us'])
    await database.db.update(machines).set({ connectedTo: 'others' }).where(eq(machines.id, machineId))
    expect([await store.confirmConnection(machineId, epoch), await holder()]).toEqual([true, 'others'])
    await store.setStatus(machineId, 'revoked')
    expect(await store.confirmConnection(machineId, epoch)).toBe(false)
  })

  it('returns the same messages until they are stored, and at most the requested number', async () => {
    const machineId = await createMachine()
    await database.db.insert(machineOutbox).values(['a', 'b', 'c'].map((id) => message(machineId, id)))
    const outbox = store.outbox(machineId)
    const ids = async (after: number, limit: number) => (await outbox.pending(after, limit)).map(({ id }) => id)
    expect([await ids(0, 2), await ids(0, 2), await ids(2, 2)]).toEqual([['a', 'b'], ['a', 'b'], ['c']])
    await outbox.acked(2)
    expect(await ids(0, 10)).toEqual(['c'])
  })

  it('accepts a token once, before it expires, and again only from the machine that used it', async () => {
    const [id, anotherId] = [randomUUID(), randomUUID()]
    const token = {
      id,
      hash: 'h',
      name: undefined,
      labels: ['gpu'],
      approve: true,
      createdBy: undefined,
      expiresAt: 2000,
    }
    await store.addToken(token)
    const use = { id, hash: 'h', keyPin: 'mine', name: 'vm', labels: [], version: '1' }
    expect(await store.redeemToken({ ...use, hash: 'other' })).toEqual({ refused: 'unknown' })
    const joined = await store.redeemToken(use)
    expect(joined).toEqual({ machineId: expect.any(String), status: 'pending' })
    expect(await store.redeemToken(use)).toEqual(joined)
    expect(await store.redeemToken({ ...use, keyPin: 'stolen' })).toEqual({ refused: 'used' })
    await store.addToken({ ...token, id: anotherId, hash: 'late' })
    now = 2000
    expect(await store.redeemToken({ ...use, id: anotherId, hash: 'late' })).toEqual({ refused: 'expired' })
  })
})
