import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/fleet/test-fleet.ts'
import { machineCalls, machines } from '../database/machine.ts'
import { createOutbox } from './machine-state.ts'
import { createMachineCalls } from './machine-calls.ts'

it('sends a pending call to a machine that reconnects while the caller waits', async () => {
  const database = await createTestDatabase('embedded')
  const machineId = randomUUID()
  // As left by a backend that was killed.
  const row = {
    id: machineId,
    name: 'vm',
    status: 'active' as const,
    connectedTo: 'the previous replica',
    createdAt: 1,
  }
  await database.db.insert(machines).values(row)
  const calls: string[] = []
  const locked = { success: true, exists: true, lock: { state: 'present' } }
  let isHere = false
  const asking = createMachineCalls({
    database,
    outbox: createOutbox({ database, clock: Date }),
    lines: {
      isReachable: () => isHere,
      call: async (_machineId, type) => {
        calls.push(type)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer of the one question that is asked here
        return locked as never
      },
    },
    now: Date.now,
    newId: randomUUID,
    log: () => {},
    deadlineMs: 60_000,
  })
  const answer = asking.ask(machineId, 'ralph-mode-check-lock', { agentId: randomUUID() })
  await expect.poll(() => database.db.select().from(machineCalls), { timeout: 30_000 }).toHaveLength(1)
  isHere = true
  await asking.onConnected(machineId)

  expect(await answer).toEqual(locked)
  expect(calls).toEqual(['ralph-mode-check-lock'])
  asking.close()
}, 120_000)
