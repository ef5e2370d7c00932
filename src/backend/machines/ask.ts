import { and, eq, isNull, lt } from 'drizzle-orm'
import { unreachable } from '../../channel/calls.ts'
import { decodeReply, encodeReply, isRequestType } from '../../channel/message.ts'
import { errorCodes, RalphError, type ErrorCode } from '../../contract/errors.ts'
import { Reply, requests, type LiveRequest, type RequestType } from '../../contract/fleet/channel.ts'
import type { Database } from '../database/database.ts'
import { machineCalls, machines } from '../database/machine.ts'
import type { Machines as FleetMachines, Request } from '../fleet/ports.ts'
import type { Machines } from './machines.ts'

// oxlint-disable typescript/no-unsafe-type-assertion -- type and body go together; the compiler loses that when they travel as rows

export type AskParts = {
  readonly database: Database
  readonly outbox: Pick<FleetMachines, 'send' | 'withdraw'>
  readonly lines: Pick<Machines, 'isReachable' | 'call'>
  readonly now: () => number
  readonly newId: () => string
  readonly log: (error: unknown) => void
  readonly deadlineMs?: number
}

const callTopic = 'machine-call'
const repliedTopic = 'machine-replied'
const usualDeadlineMs = 30_000
/** Longer than the timeout on the machine. */
const installMs = 300_000
const lookMs = 1000
/** Callers have given up on these. */
const forgetMs = 10 * 60_000

export interface Asking extends FleetMachines {
  /** The machine has connected to this replica: send it the pending calls. */
  readonly connected: (machineId: string) => Promise<void>
  /** A machine has replied to a durable request. */
  readonly replied: (reply: unknown) => Promise<void>
  readonly close: () => void
}

/**
 * Calls machines regardless of which replica holds the connection: directly if it is this one, otherwise through a row
 * that the other replica reads.
 */
export function askMachines(parts: AskParts): Asking {
  const { database, outbox, lines, now, newId, log } = parts
  const { db, signals } = database
  const stopServing = signals.on(callTopic, (id) => void serve(id, parts).catch(log))

  const askKept = async (machineId: string, request: Request): Promise<Reply> => {
    const { id, type } = request
    const write = () =>
      database.transaction(async (tx) => {
        await tx.db.insert(machineCalls).values({ id, machineId, type, createdAt: now() })
        await outbox.send(tx, machineId, request)
      })
    const patient = type === 'update' ? { ...parts, deadlineMs: installMs } : parts
    return viaRow(id, write, patient).catch(async (error: unknown) => {
      // The caller has given up: a late delivery must not take effect when the machine reconnects hours later.
      await database.transaction((tx) => outbox.withdraw(tx, machineId, id)).catch(log)
      throw error
    })
  }

  const askLive = (machineId: string, type: LiveRequest, body: unknown): Promise<Reply> => {
    const id = newId()
    const write = async () => {
      await db.delete(machineCalls).where(lt(machineCalls.createdAt, now() - forgetMs))
      await db.insert(machineCalls).values({ id, machineId, type, body, createdAt: now() })
      signals.give(callTopic, id)
    }
    return viaRow(id, write, parts)
  }

  return {
    ...outbox,
    ask: async (machineId, type, body) => {
      if (isLive(type) && lines.isReachable(machineId)) return lines.call(machineId, type, body as never)
      await mustBeConnected(db, machineId)
      const reply = isLive(type)
        ? await askLive(machineId, type, body)
        : await askKept(machineId, { id: `ask:${newId()}`, type, body } as unknown as Request)
      if (!reply.success) throw refusalOf(reply)
      return decodeReply(type, reply.result)
    },
    connected: async (machineId) => {
      const isWaiting = and(eq(machineCalls.machineId, machineId), isNull(machineCalls.reply))
      const calls = await db.select({ id: machineCalls.id }).from(machineCalls).where(isWaiting)
      await Promise.all(calls.map(({ id }) => serve(id, parts)))
    },
    replied: async (told) => {
      const reply = Reply.parse(told)
      const open = and(eq(machineCalls.id, reply.to), isNull(machineCalls.reply))
      await db.update(machineCalls).set({ reply }).where(open)
      signals.give(repliedTopic, reply.to)
    },
    close: stopServing,
  }
}

/** Fails at once if the machine is known to be disconnected. */
async function mustBeConnected(db: Database['db'], machineId: string): Promise<void> {
  const [machine] = await db.select({ to: machines.connectedTo }).from(machines).where(eq(machines.id, machineId))
  if (!machine || machine.to === null) throw unreachable('it is not connected')
}

const isLive = (type: RequestType): type is LiveRequest => requests[type].way === 'live'

function refusalOf({ code, message }: Extract<Reply, { success: false }>): RalphError {
  return new RalphError(Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'MACHINE_REFUSED', message)
}

/** Executes a call that another replica wrote for a machine connected here. */
async function serve(id: string, { database: { db, signals }, lines }: AskParts): Promise<void> {
  const [call] = await db.select().from(machineCalls).where(eq(machineCalls.id, id))
  if (!call || call.reply !== null || !isRequestType(call.type) || !isLive(call.type)) return
  if (!lines.isReachable(call.machineId)) return
  const { type } = call
  const to = { to: id, type }
  const reply: Reply = await lines.call(call.machineId, type, call.body as never).then(
    (result) => ({ success: true, ...to, result: encodeReply(type, result) }),
    (error: unknown) => ({ success: false, ...to, ...saidBy(error) }),
  )
  await db.update(machineCalls).set({ reply }).where(eq(machineCalls.id, id))
  signals.give(repliedTopic, id)
}

const saidBy = (error: unknown) =>
  error instanceof RalphError
    ? { code: error.code, message: error.message }
    : { code: 'MACHINE_REFUSED', message: 'the machine failed to answer' }

/** Writes the call, awaits its reply, and deletes both. */
async function viaRow(id: string, write: () => Promise<void>, parts: AskParts): Promise<Reply> {
  const { database, log } = parts
  try {
    await write()
    return await replyTo(id, parts)
  } finally {
    await database.db.delete(machineCalls).where(eq(machineCalls.id, id)).catch(log)
  }
}

/** Resolves with the reply as soon as the row has one. */
function replyTo(id: string, { database, now, log, deadlineMs = usualDeadlineMs }: AskParts): Promise<Reply> {
  const { db, signals } = database
  const until = now() + deadlineMs
  return new Promise((resolve, reject) => {
    const look = async () => {
      const [call] = await db.select().from(machineCalls).where(eq(machineCalls.id, id))
      if (call && call.reply !== null) end(() => resolve(Reply.parse(call.reply)))
      else if (now() >= until) end(() => reject(unreachable('it did not answer in time')))
    }
    const timer = setInterval(() => void look().catch(log), lookMs)
    const quiet = signals.on(repliedTopic, (replied) => void (replied === id && look().catch(log)))
    const end = (then: () => void) => {
      clearInterval(timer)
      quiet()
      then()
    }
    void look().catch(log)
  })
}
