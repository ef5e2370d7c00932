import { randomUUID } from 'node:crypto'
import type { StoreResult } from '../../src/connection/mailbox.ts'
import type { DurableMessage } from '../../src/connection/session.ts'
import type {
  ConnectionDetails,
  KnownMachine,
  MachineMessage,
  MachineStore,
  NewJoinTokenRow,
  TokenRedemption,
} from '../../src/backend/machines/machine-store.ts'
import type { MachineStatus } from '../../src/contract/fleet/machine.ts'

type Row = KnownMachine & { readonly epoch: number; readonly alarm?: string; readonly connected: boolean }
type Token = NewJoinTokenRow & { readonly keyPin?: string; readonly machineId?: string }

/** The backend's tables in memory, which tests can inspect. */
export function createMemoryMachineStore(now: () => number = Date.now) {
  const machines = new Map<string, Row>()
  const tokens = new Map<string, Token>()
  const outboxes = new Map<string, DurableMessage[]>()
  const inbox = new Map<string, MachineMessage>()
  let position = 0
  const change = (id: string, with_: Partial<Row>) => {
    const row = machines.get(id)
    if (row) machines.set(id, { ...row, ...with_ })
    return row !== undefined
  }
  const openOutbox = (id: string) => outboxes.get(id) ?? outboxes.set(id, []).get(id) ?? []
  const add = (name: string, status: MachineStatus = 'active', id: string = randomUUID()) => {
    machines.set(id, { id, name, status, bootEpoch: 0, bootId: undefined, epoch: 0, connected: false })
    return id
  }
  const store: MachineStore = {
    find: async (id) => machines.get(id),
    connect: async (id, { bootEpoch, bootId }: ConnectionDetails) => {
      const epoch = (machines.get(id)?.epoch ?? 0) + 1
      change(id, { bootEpoch, bootId, epoch, connected: true })
      return epoch
    },
    confirmConnection: async (id, epoch) => machines.get(id)?.epoch === epoch && machines.get(id)?.status !== 'revoked',
    disconnect: async (id, epoch) => {
      if (machines.get(id)?.epoch === epoch) change(id, { connected: false })
    },
    setAlarm: async (id, alarm) => void change(id, { alarm }),
    saveCertificate: async () => {},
    setStatus: async (id, status) => change(id, { status }),
    addToken: async (token) => void tokens.set(token.id, token),
    redeemToken: async ({ id, hash, keyPin, name }: TokenRedemption) => {
      const token = tokens.get(id)
      if (!token || token.hash !== hash) return { refused: 'unknown' }
      if (token.machineId !== undefined) {
        const status = machines.get(token.machineId)?.status ?? 'revoked'
        return token.keyPin === keyPin ? { machineId: token.machineId, status } : { refused: 'used' }
      }
      if (token.expiresAt < now()) return { refused: 'expired' }
      const status = token.approve ? 'pending' : 'active'
      const machineId = add(token.name ?? name, status)
      tokens.set(id, { ...token, keyPin, machineId })
      return { machineId, status }
    },
    outbox: (id) => ({
      pending: async (after, limit) =>
        openOutbox(id)
          .filter((message) => message.position > after)
          .slice(0, limit),
      acked: async (upTo) =>
        void outboxes.set(
          id,
          openOutbox(id).filter((message) => message.position > upTo),
        ),
    }),
  }
  return {
    store,
    machines,
    add,
    inbox,
    send: (id: string, message: Omit<DurableMessage, 'position'>) =>
      void openOutbox(id).push({ ...message, position: ++position }),
    take: async (id: string, message: MachineMessage): Promise<StoreResult> => {
      const key = `${id} ${message.id}`
      if (inbox.has(key)) return 'seen'
      inbox.set(key, message)
      return 'new'
    },
  }
}
