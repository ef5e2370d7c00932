import { and, eq, isNull, lt } from 'drizzle-orm'
import { unreachableError } from '../../connection/calls.ts'
import { decodeReply, encodeReply, isRequestType } from '../../connection/message.ts'
import { errorCodes, RalphError, type ErrorCode } from '../../contract/errors.ts'
import { Reply, requests, type LiveRequest, type RequestType } from '../../contract/fleet/machine-messages.ts'
import type { Database } from '../database/database.ts'
import { machineCalls, machines } from '../database/machine.ts'
import type { MachineGateway, DurableMachineRequest } from '../fleet/machine-gateway.ts'
import type { MachineLines } from './machine-lines.ts'

// oxlint-disable typescript/no-unsafe-type-assertion -- type and body go together; the compiler loses that when they travel as rows

export type MachineCallsOptions = {
  readonly database: Database
  readonly outbox: Pick<MachineGateway, 'send' | 'withdraw'>
  readonly lines: Pick<MachineLines, 'isReachable' | 'call'>
  readonly now: () => number
  readonly newId: () => string
  readonly log: (error: unknown) => void
  readonly deadlineMs?: number
}

const callTopic = 'machine-call'
const repliedTopic = 'machine-replied'
const defaultDeadlineMs = 30_000
/** Longer than the timeout on the machine. */
const installTimeoutMs = 300_000
const pollIntervalMs = 1000
/** Callers have given up on these. */
const callRetentionMs = 10 * 60_000

export interface MachineCalls extends MachineGateway {
  /** The machine has connected to this replica: send it the pending calls. */
  readonly onConnected: (machineId: string) => Promise<void>
  /** A machine has replied to a durable request. */
  readonly onReply: (reply: unknown) => Promise<void>
  readonly close: () => void
}

/**
 * Calls machines regardless of which replica holds the connection: directly if it is this one, otherwise through a row
 * that the other replica reads.
 */
export function createMachineCalls(parts: MachineCallsOptions): MachineCalls {
  const { database, outbox, lines, now, newId, log } = parts
  const { db, signals } = database
  const stopServing = signals.on(callTopic, (id) => void executeCall(id, parts).catch(log))

  const createDurableCall = (machineId: string, request: DurableMachineRequest): RowCall => {
    const { id, type } = request
    return {
      id,
      write: () =>
        database.transaction(async (tx) => {
          await tx.db.insert(machineCalls).values({ id, machineId, type, createdAt: now() })
          await outbox.send(tx, machineId, request)
        }),
      // A late delivery must not take effect when the machine reconnects hours later.
      withdraw: () => database.transaction((tx) => outbox.withdraw(tx, machineId, id)),
      ...(type === 'update' && { deadlineMs: installTimeoutMs }),
    }
  }

  const createLiveCall = (machineId: string, type: LiveRequest, body: unknown): RowCall => {
    const id = newId()
    return {
      id,
      write: async () => {
        await db.delete(machineCalls).where(lt(machineCalls.createdAt, now() - callRetentionMs))
        await db.insert(machineCalls).values({ id, machineId, type, body, createdAt: now() })
        signals.emit(callTopic, id)
      },
    }
  }

  return {
    ...outbox,
    ask: async (machineId, type, body) => {
      if (isLiveRequest(type) && lines.isReachable(machineId)) return lines.call(machineId, type, body as never)
      await assertConnected(db, machineId)
      const call = isLiveRequest(type)
        ? createLiveCall(machineId, type, body)
        : createDurableCall(machineId, { id: `ask:${newId()}`, type, body } as unknown as DurableMachineRequest)
      const reply = await callThroughRow(call, parts)
      if (!reply.success) throw toRefusal(reply)
      return decodeReply(type, reply.result)
    },
    onConnected: async (machineId) => {
      const isWaiting = and(eq(machineCalls.machineId, machineId), isNull(machineCalls.reply))
      const calls = await db.select({ id: machineCalls.id }).from(machineCalls).where(isWaiting)
      await Promise.all(calls.map(({ id }) => executeCall(id, parts)))
    },
    onReply: async (body) => {
      const reply = Reply.parse(body)
      const open = and(eq(machineCalls.id, reply.to), isNull(machineCalls.reply))
      await db.update(machineCalls).set({ reply }).where(open)
      signals.emit(repliedTopic, reply.to)
    },
    close: stopServing,
  }
}

/** Fails at once if the machine is known to be disconnected. */
async function assertConnected(db: Database['db'], machineId: string): Promise<void> {
  const [machine] = await db.select({ to: machines.connectedTo }).from(machines).where(eq(machines.id, machineId))
  if (!machine || machine.to === null) throw unreachableError('it is not connected')
}

const isLiveRequest = (type: RequestType): type is LiveRequest => requests[type].way === 'live'

function toRefusal({ code, message }: Extract<Reply, { success: false }>): RalphError {
  return new RalphError(Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'MACHINE_REFUSED', message)
}

/** Executes a call that another replica wrote for a machine connected here. */
async function executeCall(id: string, { database: { db, signals }, lines }: MachineCallsOptions): Promise<void> {
  const [call] = await db.select().from(machineCalls).where(eq(machineCalls.id, id))
  if (!call || call.reply !== null || !isRequestType(call.type) || !isLiveRequest(call.type)) return
  if (!lines.isReachable(call.machineId)) return
  const { type } = call
  const to = { to: id, type }
  const reply: Reply = await lines.call(call.machineId, type, call.body as never).then(
    (result) => ({ success: true, ...to, result: encodeReply(type, result) }),
    (error: unknown) => ({ success: false, ...to, ...toErrorReply(error) }),
  )
  await db.update(machineCalls).set({ reply }).where(eq(machineCalls.id, id))
  signals.emit(repliedTopic, id)
}

const toErrorReply = (error: unknown) =>
  error instanceof RalphError
    ? { code: error.code, message: error.message }
    : { code: 'MACHINE_REFUSED', message: 'the machine failed to answer' }

/** A call that is sent, and answered, through its row in the database. */
type RowCall = {
  readonly id: string
  /** Writes the row and sends the request. */
  readonly write: () => Promise<void>
  /** Takes the request back when the caller gives up; absent: nothing delivers it later. */
  readonly withdraw?: () => Promise<void>
  readonly deadlineMs?: number
}

/** Writes the call, awaits its reply, and deletes both. */
async function callThroughRow(call: RowCall, parts: MachineCallsOptions): Promise<Reply> {
  const { database, now, log } = parts
  const { id, write, withdraw, deadlineMs = parts.deadlineMs ?? defaultDeadlineMs } = call
  const { db, signals } = database
  const waitForReply = (until: number): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const poll = async () => {
        const [row] = await db.select().from(machineCalls).where(eq(machineCalls.id, id))
        if (row && row.reply !== null) end(() => resolve(Reply.parse(row.reply)))
        else if (now() >= until) end(() => reject(unreachableError('it did not answer in time')))
      }
      const timer = setInterval(() => void poll().catch(log), pollIntervalMs)
      const unsubscribe = signals.on(repliedTopic, (replied) => void (replied === id && poll().catch(log)))
      const end = (then: () => void) => {
        clearInterval(timer)
        unsubscribe()
        then()
      }
      void poll().catch(log)
    })
  try {
    await write()
    return await waitForReply(now() + deadlineMs)
  } catch (error) {
    await withdraw?.().catch(log)
    throw error
  } finally {
    await db.delete(machineCalls).where(eq(machineCalls.id, id)).catch(log)
  }
}
