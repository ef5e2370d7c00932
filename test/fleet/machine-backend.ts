import { randomBytes, randomUUID } from 'node:crypto'
import { createAuthority, openAuthority } from '../../src/connection/authority.ts'
import { decodeReply, decodeReport, encodeRequest } from '../../src/connection/message.ts'
import { createTransportPair, type Transport } from '../../src/connection/transport.ts'
import type { Timing } from '../../src/connection/line.ts'
import { openMachineLines } from '../../src/backend/machines/machine-lines.ts'
import {
  Reply,
  type Inventory,
  type DurableRequest,
  type RequestBody,
  type RequestReply,
} from '../../src/contract/fleet/machine-messages.ts'
import type { LoggedEvent } from '../../src/contract/events.ts'
import { createMemoryMachineStore } from './machine-memory-store.ts'

/** The backend's end of the line with tables in memory: sends requests and records the replies. */
export async function createTestMachineBackend(timing?: Partial<Timing>) {
  const memory = createMemoryMachineStore()
  const authority = openAuthority(await createAuthority(Date.now()))
  const inventories = new Map<string, Inventory>()
  const events = new Map<string, LoggedEvent[]>()
  const log: string[] = []
  const base = {
    store: memory.store,
    authority,
    now: Date.now,
    log: (_level: string, text: string, about?: object) => void log.push(`${text} ${JSON.stringify(about)}`),
  }
  const machines = openMachineLines({
    ...base,
    version: '0.1.0',
    lookEveryMs: 200,
    handlers: {
      handleMessage: memory.take,
      reconcileInventory: async (machineId, { inventory }) => {
        inventories.set(machineId, inventory)
        const stored = inventory.agents.map(({ agentId }) => [agentId, events.get(agentId)?.at(-1)?.seq ?? 0] as const)
        return { success: true, stored: Object.fromEntries(stored) }
      },
      saveInventory: async (machineId, { inventory }) => {
        inventories.set(machineId, inventory)
        return { success: true, stored: {} }
      },
      saveEvents: async (_machineId, { agentId, events: batch }) => {
        const before = events.get(agentId) ?? []
        const last = before.at(-1)?.seq ?? 0
        events.set(agentId, [...before, ...batch.filter(({ seq }) => seq > last)])
        return { success: true, stored: Math.max(last, batch.at(-1)?.seq ?? 0) }
      },
      onReachable: () => {},
      onSeen: () => {},
    },
    ...(timing && { timing }),
  })
  let isDown = false
  const received = (machineId: string, id: string) => memory.inbox.get(`${machineId} ${id}`)
  return {
    base,
    memory,
    machines,
    inventories,
    events,
    log,
    setDown: (down: boolean) => {
      isDown = down
    },
    /** Opens an in-process connection of this machine. */
    connect: async (machineId: string): Promise<Transport> => {
      if (isDown) throw new Error('the backend is down')
      const [ours, theirs] = createTransportPair(randomBytes(32))
      void machines.attach(ours, machineId).catch(() => {})
      return theirs
    },
    send: <T extends DurableRequest>(machineId: string, type: T, body: RequestBody<T>, id: string = randomUUID()) => {
      memory.send(machineId, { id, type, body: JSON.parse(JSON.stringify(encodeRequest(type, body))) })
      machines.wake(machineId)
      return id
    },
    reply: <T extends DurableRequest>(machineId: string, type: T, id: string): RequestReply<T> | string | undefined => {
      const message = received(machineId, `reply:${id}`)
      if (!message) return undefined
      const reply = Reply.parse(message.body)
      return reply.success ? decodeReply(type, reply.result) : `${reply.code}: ${reply.message}`
    },
    promptEnd: (machineId: string, promptId: string) => {
      const message = received(machineId, `prompt-ended:${promptId}`)
      return message && decodeReport('prompt-ended', message.body)
    },
    orderEnd: (machineId: string, orderId: string) => {
      const message = received(machineId, `order-ended:${orderId}`)
      return message && decodeReport('order-ended', message.body)
    },
  }
}
