import { z } from 'zod'
import { RalphError } from '../contract/errors.ts'
import { protocolVersions } from '../contract/fleet/machine-messages.ts'
import { Timestamp } from '../contract/time.ts'
import type { Transport } from './transport.ts'

const VersionRange = z.object({ oldest: z.int().min(1), newest: z.int().min(1) })

/** The first message of a machine on every connection. */
export const Hello = z.object({
  hello: z.object({
    machineId: z.uuid(),
    speaks: VersionRange,
    version: z.string().max(100),
    /** Increases with each start of the agents-server. */
    bootEpoch: z.int().min(1),
    /** Identifies the process: a second process with the same key has another ID. */
    bootId: z.uuid(),
    at: Timestamp,
  }),
})
export type Hello = z.output<typeof Hello>['hello']

export const Welcome = z.object({
  welcome: z.object({
    /** Identifies the connection; all its frames carry this number. */
    epoch: z.int().min(1),
    speaks: z.int().min(1),
    version: z.string(),
    at: Timestamp,
  }),
})
export type Welcome = z.output<typeof Welcome>['welcome']

/** `final`: retrying is pointless. */
const RefusalMessage = z.object({ refused: z.object({ code: z.string(), message: z.string(), final: z.boolean() }) })
export type GreetingRefusal = z.output<typeof RefusalMessage>['refused']

const GreetingAnswer = z.union([Welcome, RefusalMessage])

/** The greeting must arrive within this time. */
const greetingTimeoutMs = 8000
const maxGreetingLength = 10_000
const tooLong = new Error('greeting too long')

/**
 * Sends the machine's greeting. Rejects with MACHINE_REFUSED if retrying is pointless, otherwise with
 * MACHINE_UNREACHABLE.
 */
export async function sendHello(transport: Transport, hello: Hello): Promise<Welcome> {
  transport.send(JSON.stringify(z.encode(Hello, { hello })))
  const answer = await readGreeting(transport, GreetingAnswer)
  if ('welcome' in answer) return answer.welcome
  const { code, message, final } = answer.refused
  throw new RalphError(final ? 'MACHINE_REFUSED' : 'MACHINE_UNREACHABLE', `${code}: ${message}`)
}

/** Reads the greeting of a machine. */
export const readHello = async (transport: Transport): Promise<Hello> => (await readGreeting(transport, Hello)).hello

export const sendWelcome = (transport: Transport, welcome: Welcome): void =>
  transport.send(JSON.stringify(z.encode(Welcome, { welcome })))

export function sendRefusal(transport: Transport, refused: GreetingRefusal): void {
  transport.send(JSON.stringify({ refused }))
  transport.close(refused.code)
}

/** The newest version that both sides speak; undefined if there is none. */
export function commonVersion(theirs: Hello['speaks'], ours: Hello['speaks'] = protocolVersions): number | undefined {
  const newest = Math.min(theirs.newest, ours.newest)
  return newest >= Math.max(theirs.oldest, ours.oldest) ? newest : undefined
}

async function readGreeting<T extends z.ZodType>(transport: Transport, schema: T): Promise<z.output<T>> {
  const timer = setTimeout(() => transport.close('no greeting arrived in time'), greetingTimeoutMs)
  try {
    const text = await transport.nextText()
    if (text.length > maxGreetingLength) throw tooLong
    return z.decode(schema, JSON.parse(text))
  } catch (cause) {
    transport.close('malformed greeting')
    const isMalformed = cause instanceof z.ZodError || cause instanceof SyntaxError || cause === tooLong
    const message = isMalformed ? 'sent an invalid greeting' : 'closed the connection before its greeting'
    throw new RalphError('MACHINE_UNREACHABLE', `the other side ${message}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}
