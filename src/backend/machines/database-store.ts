import { and, asc, eq, ne, not, sql } from 'drizzle-orm'
import { encodeRequest, isRequestType } from '../../connection/message.ts'
import type { RequestBody, RequestType } from '../../contract/fleet/machine-messages.ts'
import { equalsAny } from '../database/columns.ts'
import type { Database } from '../database/database.ts'
import { joinTokens, machineOutbox, machines } from '../database/machine.ts'
import type { Admission, MachineStore, TokenRedemption } from './machine-store.ts'

export type MachineStoreOptions = {
  readonly now: () => number
  readonly newId: () => string
  /** This replica. */
  readonly replicaId: () => string
  /** Called when the row of a machine has changed. */
  readonly onChange: (machineId: string) => Promise<void>
}

/** Implements the store of the line with the tables of the fleet. */
export function createDatabaseStore(database: Database, options: MachineStoreOptions): MachineStore {
  const { db, transaction } = database
  const { now, onChange: changed } = options
  const set = async (machineId: string, fields: Partial<typeof machines.$inferSelect>) => {
    const rows = await db.update(machines).set(fields).where(eq(machines.id, machineId)).returning({ id: machines.id })
    await changed(machineId)
    return rows.length > 0
  }
  return {
    find: async (machineId) => {
      const [row] = await db.select().from(machines).where(eq(machines.id, machineId))
      return row && { ...row, bootId: row.bootId ?? undefined }
    },
    // `connectedTo` is written once the inventory was applied: see `reachable`.
    connect: async (machineId, { bootEpoch, bootId, version, clockSkewMs }) => {
      const fields = { bootEpoch, bootId, version, clockSkewMs, lastSeenAt: now(), epoch: sql`${machines.epoch} + 1` }
      const [row] = await db.update(machines).set(fields).where(eq(machines.id, machineId)).returning()
      return row?.epoch ?? 1
    },
    confirmConnection: async (machineId, epoch) => {
      const same = and(eq(machines.id, machineId), eq(machines.epoch, epoch), ne(machines.status, 'revoked'))
      // While the database was unreachable, other replicas may have marked the machine disconnected.
      const here = { lastSeenAt: now(), connectedTo: sql`coalesce(${machines.connectedTo}, ${options.replicaId()})` }
      return (await db.update(machines).set(here).where(same).returning({ id: machines.id })).length > 0
    },
    disconnect: async (machineId, epoch) => {
      const same = and(eq(machines.id, machineId), eq(machines.epoch, epoch))
      await db.update(machines).set({ connectedTo: null }).where(same)
      await changed(machineId)
    },
    setAlarm: async (machineId, alarm) => void (await set(machineId, { alarm })),
    saveCertificate: async (machineId, certificateSerial, certificateExpiresAt) =>
      void (await set(machineId, { certificateSerial, certificateExpiresAt })),
    setStatus: (machineId, status) => set(machineId, { status }),
    addToken: async ({ id, hash, name, labels, approve, createdBy, expiresAt }) => {
      const tokenRow = { name: name ?? null, createdBy: createdBy ?? null }
      await db.insert(joinTokens).values({ id, hash, labels, approve, expiresAt, createdAt: now(), ...tokenRow })
    },
    redeemToken: (use) => transaction(async (tx) => redeemToken(tx.db, use, options)),
    outbox: (machineId) => openOutbox(database, machineId),
  }
}

type WaitingRow = { readonly position: number; readonly row: typeof machineOutbox.$inferSelect }

/**
 * The outbox of one connection. Positions are local to it: a row of a transaction that commits late can have a lower ID
 * than rows already sent, and must be neither skipped nor treated as sent.
 */
function openOutbox({ db }: Database, machineId: string): ReturnType<MachineStore['outbox']> {
  let waiting: readonly WaitingRow[] = []
  let last = 0
  return {
    pending: async (after, limit) => {
      const known = waiting.filter(({ position }) => position > after)
      if (known.length < limit) {
        const ids = waiting.map(({ row }) => row.id)
        const fresh = await db
          .select()
          .from(machineOutbox)
          .where(and(eq(machineOutbox.machineId, machineId), not(equalsAny(machineOutbox.id, ids))))
          .orderBy(asc(machineOutbox.id))
          .limit(limit - known.length)
        waiting = [...waiting, ...fresh.map((row) => ({ position: ++last, row }))]
      }
      return waiting
        .filter(({ position }) => position > after)
        .slice(0, limit)
        .map(({ position, row }) => ({ position, id: row.messageId, ...encodeRow(row.message) }))
    },
    acked: async (upTo) => {
      const ids = waiting.filter(({ position }) => position <= upTo).map(({ row }) => row.id)
      waiting = waiting.filter(({ position }) => position > upTo)
      if (ids.length > 0) await db.delete(machineOutbox).where(equalsAny(machineOutbox.id, ids))
    },
  }
}

/** Rows hold the decoded message; this encodes it for the wire. */
function encodeRow(message: unknown): { type: string; body: unknown } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `send`, which is typed
  const { type, body } = message as { type: string; body: RequestBody<RequestType> }
  return { type, body: isRequestType(type) ? encodeRequest(type, body) : body }
}

/** Single use. The machine that used it may retry with the same key if the reply was lost. */
async function redeemToken(
  db: Database['db'],
  { id, hash, keyPin, name, labels, version, shared = false }: TokenRedemption,
  { now, newId }: MachineStoreOptions,
): Promise<Admission> {
  const [token] = await db
    .select()
    .from(joinTokens)
    .where(and(eq(joinTokens.id, id), eq(joinTokens.hash, hash)))
    .for('update')
  if (!token) return { refused: 'unknown' }
  if (token.machineId !== null && token.keyPin === keyPin) {
    const [machine] = await db.select().from(machines).where(eq(machines.id, token.machineId))
    return machine ? { machineId: machine.id, status: machine.status } : { refused: 'unknown' }
  }
  if (token.usedAt !== null) return { refused: 'used' }
  const at = now()
  if (token.expiresAt <= at) return { refused: 'expired' }
  const machineId = newId()
  const status = token.approve ? ('pending' as const) : ('active' as const)
  const all = [...new Set([...token.labels, ...labels])]
  const row = { id: machineId, name: token.name ?? name, status, labels: all, version, createdAt: at }
  await db.insert(machines).values({ ...row, ownerId: token.createdBy, shared })
  await db.update(joinTokens).set({ usedAt: at, keyPin, machineId }).where(eq(joinTokens.id, id))
  return { machineId, status }
}
