import { certificateRequestPin, type Authority } from '../../connection/authority.ts'
import { formatJoinToken, joinTokenLifeMs, generateJoinToken, hashJoinSecret } from '../../connection/join-token.ts'
import type { JoinResponse, JoinRequest } from '../../connection/join.ts'
import type { BackendLog } from './connection.ts'
import type { MachineStore } from './machine-store.ts'

export type AdmissionParts = {
  readonly store: MachineStore
  readonly authority: Authority
  readonly now: () => number
  readonly log: BackendLog
  /** Adds a row to the audit log, for refusals at most one per address and minute; must not reject. */
  readonly recordJoin?: ((event: JoinEvent, address: string) => Promise<void>) | undefined
}

type JoinEvent = {
  readonly who: string
  readonly what: 'join' | 'joinRefused'
  readonly target?: string
  readonly details: Readonly<Record<string, unknown>>
}

type JoinTokenRequest = {
  readonly name?: string | undefined
  readonly labels?: readonly string[] | undefined
  readonly approve?: boolean | undefined
  readonly createdBy?: string | undefined
}

export type IssuedJoinToken = { readonly id: string; readonly token: string; readonly expiresAt: number }

/** Creates a token for one machine. Only its hash is stored. */
export async function issueJoinToken(
  request: JoinTokenRequest,
  { store, authority, now }: AdmissionParts,
): Promise<IssuedJoinToken> {
  const token = generateJoinToken(authority.pin)
  const expiresAt = now() + joinTokenLifeMs
  await store.addToken({
    id: token.id,
    hash: hashJoinSecret(token.secret),
    name: request.name,
    labels: request.labels ?? [],
    approve: request.approve ?? false,
    createdBy: request.createdBy,
    expiresAt,
  })
  return { id: token.id, token: formatJoinToken(token), expiresAt }
}

/** One message for all cases, so that it does not reveal which part of the token was wrong. */
const tokenRefusedMessage = 'the token is unknown, used or older than 15 minutes'

/** Admits a machine with a valid token, once. */
export async function admitWithToken(
  request: JoinRequest,
  address: string,
  { store, authority, now, log, recordJoin }: AdmissionParts,
): Promise<JoinResponse> {
  const { id, secret, csr, name, labels, version, shared } = request
  const keyPin = await certificateRequestPin(csr)
  const admission = await store.redeemToken({ id, hash: hashJoinSecret(secret), keyPin, name, labels, version, shared })
  if ('refused' in admission) {
    log('warn', `refused to join a machine: its token is ${admission.refused}`, { token: id, why: admission.refused })
    const details = { token: id, why: admission.refused }
    await recordJoin?.({ who: name, what: 'joinRefused', details }, address)
    return { refused: tokenRefusedMessage }
  }
  const { machineId, status } = admission
  if (status === 'pending') return { pending: true }
  if (status === 'revoked') return { refused: tokenRefusedMessage }
  const { certificate, serial, expiresAt } = await authority.issueForMachine(csr, machineId, now())
  await store.saveCertificate(machineId, serial, expiresAt)
  log('info', 'machine joined', { machineId, name })
  const details = { token: id, shared: shared ?? false, address }
  await recordJoin?.({ who: name, what: 'join', target: machineId, details }, address)
  return { machineId, certificate, authorities: authority.certificate }
}
