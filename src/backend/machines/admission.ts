import { requestPin, type Authority } from '../../channel/authority.ts'
import { formatJoinToken, joinTokenLifeMs, newJoinToken, secretHash } from '../../channel/join-token.ts'
import type { JoinAnswer, JoinRequest } from '../../channel/join.ts'
import type { Log } from './connection.ts'
import type { MachineStore } from './store.ts'

export type AdmissionParts = {
  readonly store: MachineStore
  readonly authority: Authority
  readonly now: () => number
  readonly log: Log
}

type Wanted = {
  readonly name?: string | undefined
  readonly labels?: readonly string[] | undefined
  readonly approve?: boolean | undefined
  readonly createdBy?: string | undefined
}

export type MadeToken = { readonly id: string; readonly token: string; readonly expiresAt: number }

/** Creates a token for one machine. Only its hash is stored. */
export async function makeJoinToken(wanted: Wanted, { store, authority, now }: AdmissionParts): Promise<MadeToken> {
  const token = newJoinToken(authority.pin)
  const expiresAt = now() + joinTokenLifeMs
  await store.addToken({
    id: token.id,
    hash: secretHash(token.secret),
    name: wanted.name,
    labels: wanted.labels ?? [],
    approve: wanted.approve ?? false,
    createdBy: wanted.createdBy,
    expiresAt,
  })
  return { id: token.id, token: formatJoinToken(token), expiresAt }
}

/** One message for all cases, so that it does not reveal which part of the token was wrong. */
const refusal = 'the token is unknown, used or older than 15 minutes'

/** Admits a machine with a valid token, once. */
export async function join(request: JoinRequest, { store, authority, now, log }: AdmissionParts): Promise<JoinAnswer> {
  const { id, secret, csr, name, labels, version } = request
  const keyPin = await requestPin(csr)
  const admission = await store.useToken({ id, hash: secretHash(secret), keyPin, name, labels, version })
  if ('refused' in admission) {
    log('warn', 'join refused', { token: id, why: admission.refused })
    return { refused: refusal }
  }
  const { machineId, status } = admission
  if (status === 'pending') return { pending: true }
  if (status === 'revoked') return { refused: refusal }
  const { certificate, serial, expiresAt } = await authority.forMachine(csr, machineId, now())
  await store.certified(machineId, serial, expiresAt)
  log('info', 'machine joined', { machineId, name })
  return { machineId, certificate, authorities: authority.certificate }
}
