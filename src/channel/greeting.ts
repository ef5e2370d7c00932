import { z } from 'zod'
import { RalphError } from '../contract/errors.ts'
import { spoken } from '../contract/fleet/channel.ts'
import { Timestamp } from '../contract/time.ts'
import type { Transport } from './transport.ts'

const speaks = z.object({ oldest: z.int().min(1), newest: z.int().min(1) })

/** The first message of a machine on every connection. */
export const Hello = z.object({
  hello: z.object({
    machineId: z.uuid(),
    speaks,
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
const Refused = z.object({ refused: z.object({ code: z.string(), message: z.string(), final: z.boolean() }) })
export type Refusal = z.output<typeof Refused>['refused']

const Answer = z.union([Welcome, Refused])

/** The greeting must arrive within this time. */
const patienceMs = 8000
const mostCharacters = 10_000

/**
 * Sends the machine's greeting. Rejects with MACHINE_REFUSED if retrying is pointless, otherwise with
 * MACHINE_UNREACHABLE.
 */
export async function greet(transport: Transport, hello: Hello): Promise<Welcome> {
  transport.send(JSON.stringify(z.encode(Hello, { hello })))
  const answer = await heard(transport, Answer)
  if ('welcome' in answer) return answer.welcome
  const { code, message, final } = answer.refused
  throw new RalphError(final ? 'MACHINE_REFUSED' : 'MACHINE_UNREACHABLE', `${code}: ${message}`)
}

/** Reads the greeting of a machine. */
export const hearHello = async (transport: Transport): Promise<Hello> => (await heard(transport, Hello)).hello

export const sayWelcome = (transport: Transport, welcome: Welcome): void =>
  transport.send(JSON.stringify(z.encode(Welcome, { welcome })))

export function sayRefused(transport: Transport, refused: Refusal): void {
  transport.send(JSON.stringify({ refused }))
  transport.close(refused.code)
}

/** The newest version that both sides speak; undefined if there is none. */
export function commonVersion(theirs: Hello['speaks'], ours: Hello['speaks'] = spoken): number | undefined {
  const newest = Math.min(theirs.newest, ours.newest)
  return newest >= Math.max(theirs.oldest, ours.oldest) ? newest : undefined
}

async function heard<T extends z.ZodType>(transport: Transport, schema: T): Promise<z.output<T>> {
  const timer = setTimeout(() => transport.close('no greeting arrived in time'), patienceMs)
  try {
    const text = await transport.nextText()
    if (text.length > mostCharacters) throw new Error('greeting too long')
    return z.decode(schema, JSON.parse(text))
  } catch (cause) {
    transport.close('malformed greeting')
    throw new RalphError('MACHINE_UNREACHABLE', 'the other side sent an invalid greeting', { cause })
  } finally {
    clearTimeout(timer)
  }
}
