import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { RalphError } from '../contract/errors.ts'

/** The token a user types on a machine: the pin of the backend to trust, and a secret that works once. */
export type JoinToken = { readonly pin: string; readonly id: string; readonly secret: string }

export const joinTokenLifeMs = 15 * 60_000

const joinTokenPattern = /^ralph1\.([A-Za-z0-9_-]{43})\.([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/

export const generateJoinToken = (pin: string): JoinToken => ({
  pin,
  id: randomUUID(),
  secret: randomBytes(32).toString('base64url'),
})

export const formatJoinToken = ({ pin, id, secret }: JoinToken): string => `ralph1.${pin}.${id}.${secret}`

export function parseJoinToken(text: string): JoinToken {
  const [, pin, id, secret] = joinTokenPattern.exec(text.trim()) ?? []
  if (pin !== undefined && id !== undefined && secret !== undefined) return { pin, id, secret }
  throw new RalphError('JOIN_REFUSED', 'this is not a join token', { hint: 'create one with: ralph machine token' })
}

/** The form in which a secret is stored. */
export const hashJoinSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex')
