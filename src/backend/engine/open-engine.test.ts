import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, kinds, waitUntil } from '../../../test/fleet/test-fleet.ts'
import type { Database } from '../database/database.ts'
import type { Engine } from './engine.ts'
import { holdLivenessLock } from './liveness-lock.ts'
import { openEngine } from './open-engine.ts'
import { listDeadTasks } from './recover-tasks.ts'

describe.each(kinds)('the engine on %s', (kind) => {
  let database: Database
  let engine: Engine
  let done: unknown[]
  let trouble: (() => void) | undefined
  const open = () =>
    openEngine(database, {
      onLost: (reason) => done.push(reason),
      handlers: {
        note: async (input) => {
          trouble?.()
          done.push(input)
        },
      },
    })
  beforeAll(async () => {
    database = await createTestDatabase(kind)
    engine = await open()
  }, 120_000)
  afterAll(() => engine?.close(), 60_000)
  beforeEach(() => {
    done = []
    trouble = undefined
  })
  const enqueue = (id: string, at?: number) =>
    database.transaction((tx) =>
      engine.enqueue(tx, { id, kind: 'note', input: { id }, ...(at !== undefined && { at }) }),
    )
  const isDone = (count: number) =>
    waitUntil(
      async () => done,
      (all) => all.length >= count,
    )

  it('runs a task once if its transaction commits, and never if it rolls back', async () => {
    const undone = database.transaction(async (tx) => {
      await engine.enqueue(tx, { id: 'undone', kind: 'note', input: 'undone' })
      throw new Error('never mind')
    })
    await expect(undone).rejects.toThrow('never mind')
    await enqueue('once')
    await isDone(1)
    await enqueue('once')
    await enqueue('twice')
    await isDone(2)
    expect(done).toEqual([{ id: 'once' }, { id: 'twice' }])
  })

  it('waits until the task is due, unless it is cancelled', async () => {
    const at = Date.now() + 1200
    await enqueue('later', at)
    await enqueue('never', at)
    await database.transaction(async (tx) => engine.cancel(tx, 'never'))
    await isDone(1)
    expect(Date.now()).toBeGreaterThanOrEqual(at)
    await enqueue('after')
    await isDone(2)
    expect(done).toEqual([{ id: 'later' }, { id: 'after' }])
  })

  it('retries a failed task', async () => {
    let tries = 0
    trouble = () => {
      if (++tries < 3) throw new Error('not yet')
    }
    await enqueue('again')
    await isDone(1)
    expect({ tries, done }).toEqual({ tries: 3, done: [{ id: 'again' }] })
  })

  it('takes over the tasks of a dead process', async () => {
    await enqueue('orphan', Date.now() + 3_600_000)
    await database.db.execute(sql`
      update dbos.workflow_status set status = 'PENDING', executor_id = 'a process that died'
      where workflow_uuid = 'orphan'`)
    await engine.recover()
    await isDone(1)
    expect(done).toEqual([{ id: 'orphan' }])
  })

  it.skipIf(kind === 'embedded')(
    'declares a process dead when its session ends, even if it was seen recently',
    async () => {
      const life = await holdLivenessLock(database.url, 'another', () => {})
      await enqueue('left', Date.now() + 3_600_000)
      await database.db.execute(sql`
      update dbos.workflow_status set status = 'PENDING', executor_id = 'another' where workflow_uuid = 'left'`)
      const hour = 3_600_000
      await database.db.execute(sql`
      insert into executor (id, last_seen) values ('another', clock_timestamp() + interval '1 hour')`)
      // Seen, but long enough ago for the liveness lock to be checked.
      const dead = () => listDeadTasks(database, { deadMs: hour, seenMs: -2 * hour })
      expect(await dead()).toEqual([])
      await life.end()
      await waitUntil(dead, (ids) => ids.includes('left'))
      expect(await listDeadTasks(database)).toEqual([])
      await database.db.execute(sql`delete from executor where id = 'another'`)
      await isDone(1)
      expect(done).toEqual([{ id: 'left' }])
    },
  )

  it('resumes its timers after a restart', async () => {
    await enqueue('survivor', Date.now() + 500)
    await engine.close()
    engine = await open()
    await isDone(1)
    expect(done).toEqual([{ id: 'survivor' }])
  })
})
