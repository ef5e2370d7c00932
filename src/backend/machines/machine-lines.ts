import { unreachableError } from '../../connection/calls.ts'
import { sendRefusal } from '../../connection/greeting.ts'
import { decodeReply, encodeRequest } from '../../connection/message.ts'
import type { Transport } from '../../connection/transport.ts'
import type { LiveRequest, RequestBody, RequestReply } from '../../contract/fleet/machine-messages.ts'
import { explainOutage } from '../database/database-unavailable.ts'
import { admitConnection, openConnection, type MachineConnection, type ConnectionParts } from './connection.ts'
import { createRefusalLog } from './refusal-log.ts'

/** The lines to all machines connected to this replica. */
export interface MachineLines {
  /** Calls a connected machine. Throws MACHINE_UNREACHABLE. */
  readonly call: <T extends LiveRequest>(
    machineId: string,
    type: T,
    body: RequestBody<T>,
    deadlineMs?: number,
  ) => Promise<RequestReply<T>>
  /** Looks for new messages in the machine's outbox. */
  readonly wake: (machineId: string) => void
  readonly isReachable: (machineId: string) => boolean
  /** Attaches a connection whose other end has proved to be this machine. Resolves once it is admitted or refused. */
  readonly attach: (transport: Transport, machineId: string) => Promise<void>
  /** Closes the connection of a machine that has lost its access. */
  readonly drop: (machineId: string, reason: string) => void
  readonly counts: () => { readonly connected: number; readonly refusedFrames: number }
  readonly close: () => void
}

const defaultLineDeadlineMs = 30_000
/** Maximum delay until a revocation, or a newer connection to another replica, takes effect. */
const recheckIntervalMs = 20_000
const pingTimeoutMs = 2000

export function openMachineLines(parts: ConnectionParts & { readonly lookEveryMs?: number }): MachineLines {
  const { live, attach, refusedFrames } = createConnectionTable(parts)
  const look = setInterval(() => {
    for (const connection of live.values()) void closeIfSuperseded(connection, parts)
  }, parts.lookEveryMs ?? recheckIntervalMs)
  look.unref()
  return {
    attach,
    call: async (machineId, type, body, deadlineMs = defaultLineDeadlineMs) => {
      const connection = live.get(machineId)
      if (!connection) throw unreachableError('it is not connected')
      return decodeReply(type, await connection.line.call(type, encodeRequest(type, body), deadlineMs))
    },
    wake: (machineId) => live.get(machineId)?.line.wake(),
    isReachable: (machineId) => live.get(machineId)?.isReady() ?? false,
    drop: (machineId, reason) => live.get(machineId)?.line.close(reason),
    counts: () => ({ connected: live.size, refusedFrames: refusedFrames() }),
    close: () => {
      clearInterval(look)
      for (const { line } of live.values()) line.close('the backend is shutting down')
    },
  }
}

async function closeIfSuperseded(
  { machineId, epoch, line }: MachineConnection,
  { store }: ConnectionParts,
): Promise<void> {
  const counts = await store.confirmConnection(machineId, epoch).catch(() => true)
  if (!counts) line.close('this connection was superseded or revoked')
}

const outageRefusal = {
  code: 'DATABASE_UNAVAILABLE',
  message: 'the database of the backend is away, and this machine retries',
  final: false,
}

/** One connection per machine: a newer one replaces the previous one. */
function createConnectionTable(parts: ConnectionParts) {
  const { store, handlers, log } = parts
  const refusals = createRefusalLog(log)
  const live = new Map<string, MachineConnection>()
  let refusedBefore = 0
  const attach = async (transport: Transport, machineId: string) => {
    const admitted = await admitConnection(transport, machineId, { ...parts, refusals }).catch((error: unknown) => {
      if (explainOutage(error)) sendRefusal(transport, outageRefusal)
      throw error
    })
    if (!admitted) return
    const before = live.get(machineId)
    before?.fence()
    const connection = openConnection(transport, admitted, parts)
    live.set(machineId, connection)
    void forget(connection)
    if (before) await replaceConnection(before, connection, parts)
  }
  const forget = async (connection: MachineConnection) => {
    const { machineId, epoch, line } = connection
    const reason = await line.closed
    refusedBefore += line.counts.refused
    log('info', 'line closed', { machineId, reason, refused: line.counts.refused })
    if (live.get(machineId) !== connection) return
    live.delete(machineId)
    handlers.onReachable(machineId, false)
    await store.disconnect(machineId, epoch).catch(() => {})
  }
  const refusedFrames = () => [...live.values()].reduce((sum, { line }) => sum + line.counts.refused, refusedBefore)
  return { live, attach, refusedFrames }
}

/**
 * The old end of a broken link does not answer. One that answers and belongs to another process is a copy of the key.
 */
async function replaceConnection(
  before: MachineConnection,
  now: MachineConnection,
  { store, log }: ConnectionParts,
): Promise<void> {
  if (before.bootId !== now.bootId && (await before.line.answers(pingTimeoutMs))) {
    const alarm = 'two agents-servers with the same key were connected; the older one was disconnected'
    await store.setAlarm(now.machineId, alarm)
    log('warn', alarm, { machineId: now.machineId })
  }
  before.line.close('a newer connection has taken over')
}
