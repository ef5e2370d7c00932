import type { Authority } from '../../connection/authority.ts'
import { readHello, commonVersion, sendRefusal, sendWelcome, type Hello } from '../../connection/greeting.ts'
import { openLine, type Line, type Timing } from '../../connection/line.ts'
import { decodeReport, encodeReportReply, isReportType } from '../../connection/message.ts'
import { createSeal } from '../../connection/seal.ts'
import type { ReceivedMessage } from '../../connection/session.ts'
import type { Transport } from '../../connection/transport.ts'
import { RalphError } from '../../contract/errors.ts'
import type { ReportBody } from '../../contract/fleet/machine-messages.ts'
import type { MachineHandlers, MachineStore } from './machine-store.ts'
import type { RefusalLog } from './refusal-log.ts'

export type ConnectionParts = {
  readonly store: MachineStore
  readonly handlers: MachineHandlers
  readonly authority: Authority
  readonly version: string
  readonly now: () => number
  readonly log: BackendLog
  readonly timing?: Partial<Timing> | undefined
}

/** Writes one log line. Must never include data received from a machine. */
export type BackendLog = (level: 'info' | 'warn', text: string, about?: Readonly<Record<string, unknown>>) => void

export type MachineConnection = {
  readonly machineId: string
  readonly bootEpoch: number
  readonly bootId: string
  readonly epoch: number
  readonly line: Line
  /** True once the machine's inventory was reconciled; before that it receives no work. */
  readonly isReady: () => boolean
  /** Stops sending work to it. */
  readonly fence: () => void
}

/** Alarms in both directions: a larger skew makes certificates and logs unreliable. */
const maxSkewMs = 30_000

/** Often enough for leases, rarely enough for the database. */
const seenIntervalMs = 5000

function throttle(ms: number, call: () => void): () => void {
  let last = performance.now()
  return () => {
    if (performance.now() - last < ms) return
    last = performance.now()
    call()
  }
}

/** For the log of the backend: what an operator may have to do. */
const refusalTexts = {
  WRONG_NAME: 'its certificate belongs to another machine; it must join again',
  VERSION_UNKNOWN: 'its version of ralph is too far from the one of this backend; update the older one',
  REVOKED: 'it was revoked',
  JOIN_PENDING: 'an admin has not approved it yet',
  FENCED: 'a newer agents-server uses its key; if this one is a copy, join it again',
}

type AdmittedMachine = { readonly hello: Hello; readonly epoch: number; readonly clockSkewMs: number }

/** Decides whether this machine may connect, and returns its epoch. Sends the machine the reason of a refusal. */
export async function admitConnection(
  transport: Transport,
  machineId: string,
  parts: ConnectionParts & { readonly refusals: RefusalLog },
): Promise<AdmittedMachine | undefined> {
  const { store, now, log } = parts
  const hello = await readHello(transport)
  const known = await store.find(machineId)
  const name = known?.name ?? machineId
  const refuse = (code: keyof typeof refusalTexts, message: string, final: boolean) => {
    parts.refusals(machineId, code, `refused machine ${name}: ${refusalTexts[code]} (${code})`)
    sendRefusal(transport, { code, message, final })
    return undefined
  }
  if (hello.machineId !== machineId) return refuse('WRONG_NAME', 'the certificate belongs to another machine', true)
  const speaks = commonVersion(hello.speaks)
  if (speaks === undefined) {
    return refuse(
      'VERSION_UNKNOWN',
      `ralph ${parts.version} is not compatible with ralph ${hello.version}; update one of them`,
      false,
    )
  }
  if (!known || known.status === 'revoked') return refuse('REVOKED', 'this machine was revoked', true)
  if (known.status === 'pending') return refuse('JOIN_PENDING', 'an admin has not approved this machine yet', false)
  if (isStaleBoot(hello, known)) {
    const alarm = 'a second agents-server with the same key tried to connect'
    await store.setAlarm(machineId, alarm)
    return refuse('FENCED', 'another agents-server with this key is newer; join again if this is another machine', true)
  }
  const clockSkewMs = Math.round(hello.at - now())
  if (Math.abs(clockSkewMs) > maxSkewMs) {
    const seconds = Math.round(Math.abs(clockSkewMs) / 1000)
    await store.setAlarm(machineId, `its clock is off by ${seconds} s`)
    log('warn', `the clock of machine ${name} is off by ${seconds} s`, { machineId, clockSkewMs })
  }
  const { bootEpoch, bootId, version } = hello
  const epoch = await store.connect(machineId, { bootEpoch, bootId, version, clockSkewMs })
  sendWelcome(transport, { epoch, speaks, version: parts.version, at: now() })
  return { hello, epoch, clockSkewMs }
}

/**
 * A reconnecting process has the same boot ID; a newer one has a higher boot epoch. Anything else is a copy of the key.
 */
const isStaleBoot = (
  hello: Hello,
  known: { readonly bootEpoch: number; readonly bootId: string | undefined },
): boolean =>
  hello.bootEpoch < known.bootEpoch || (hello.bootEpoch === known.bootEpoch && hello.bootId !== known.bootId)

/** The backend's end of an admitted connection. */
export function openConnection(
  transport: Transport,
  { hello, epoch, clockSkewMs }: AdmittedMachine,
  parts: ConnectionParts,
): MachineConnection {
  const { store, handlers } = parts
  const { machineId, bootEpoch, bootId } = hello
  const outbox = store.outbox(machineId)
  let ready = false
  let fenced = false
  const line = openLine({
    transport,
    seal: createSeal(transport.secret, 'backend'),
    epoch,
    mailbox: {
      pending: async (after, limit) => (ready && !fenced ? outbox.pending(after, limit) : []),
      acked: outbox.acked,
      store: (message) => handlers.handleMessage(machineId, message),
    },
    onReceived: () => {},
    answer: async (request) => {
      const reply = await answerReport(machineId, request, { ...parts, isReconciled: ready, clockSkewMs })
      if (request.type === 'inventory') becomeReady()
      return reply
    },
    onActivity: throttle(seenIntervalMs, () => handlers.onSeen(machineId)),
    ...(parts.timing && { timing: parts.timing }),
  })
  const becomeReady = () => {
    if (!ready) handlers.onReachable(machineId, true)
    ready = true
    line.wake()
  }
  return { machineId, bootEpoch, bootId, epoch, line, isReady: () => ready, fence: () => void (fenced = true) }
}

type ReportContext = ConnectionParts & Pick<AdmittedMachine, 'clockSkewMs'> & { readonly isReconciled: boolean }

async function answerReport(
  machineId: string,
  { type, body }: ReceivedMessage,
  parts: ReportContext,
): Promise<unknown> {
  if (!isReportType(type))
    throw new RalphError('VERSION_UNKNOWN', `this backend does not know the message "${type.slice(0, 60)}"`)
  switch (type) {
    case 'inventory': {
      const { reconcileInventory, saveInventory } = parts.handlers
      const handle = parts.isReconciled ? saveInventory : reconcileInventory
      return encodeReportReply(type, await handle(machineId, decodeReport(type, body)))
    }
    case 'events': {
      const events = toBackendTime(decodeReport(type, body), parts.clockSkewMs)
      return encodeReportReply(type, await parts.handlers.saveEvents(machineId, events))
    }
    case 'renew':
      return encodeReportReply(type, await issueRenewal(machineId, decodeReport(type, body).csr, parts))
    case 'prompt-ended':
    case 'order-ended':
    case 'hook-spawned':
      throw new RalphError('MESSAGE_INVALID', `"${type}" is durable but was sent as a live message`)
  }
}

/** Converts event times to the backend's clock, so that users can compare events of several machines. */
function toBackendTime(body: ReportBody<'events'>, clockSkewMs: number): ReportBody<'events'> {
  if (Math.abs(clockSkewMs) <= maxSkewMs) return body
  return { ...body, events: body.events.map((event) => ({ ...event, at: event.at - clockSkewMs })) }
}

async function issueRenewal(machineId: string, csr: string, { authority, store, now }: ConnectionParts) {
  const { certificate, serial, expiresAt } = await authority.issueForMachine(csr, machineId, now())
  await store.saveCertificate(machineId, serial, expiresAt)
  return { success: true as const, certificate, authorities: authority.certificate }
}
