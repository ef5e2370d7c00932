import { X509Certificate } from 'node:crypto'
import { createKeyAndRequest } from '../connection/authority.ts'
import { requestJoin } from '../connection/join.ts'
import { parseJoinToken } from '../connection/join-token.ts'
import type { Line } from '../connection/line.ts'
import { decodeReportReply, encodeReport } from '../connection/message.ts'
import { dialBackend, type BackendAddress } from '../connection/web-socket.ts'
import { RalphError } from '../contract/errors.ts'
import { startAgentsServer, type AgentsServer, type AgentsServerOptions } from './agents-server.ts'
import type { MachineSettings } from './inventory.ts'
import { toCredentials, readIdentity, saveIdentity, type MachineIdentity } from './machine-folder.ts'

export type JoinOptions = {
  readonly home: string
  readonly token: string
  readonly backend: BackendAddress
  readonly settings: MachineSettings
  readonly version: string
  /** Called once if an admin has to approve the machine first. */
  readonly onPending: () => void
}

const approvalPollIntervalMs = 3000
const approvalTimeoutMs = 30 * 60_000

/** Registers this machine with a backend. The key is created here and never leaves this machine. */
export async function joinBackend(joining: JoinOptions): Promise<MachineIdentity> {
  const { home, backend, settings, version } = joining
  const token = parseJoinToken(joining.token)
  const { key, csr } = await createKeyAndRequest(settings.name)
  const about = {
    csr,
    name: settings.name,
    labels: [...settings.labels],
    version,
    ...(settings.shared && { shared: true }),
  }
  const deadline = Date.now() + approvalTimeoutMs
  for (let attempts = 0; Date.now() < deadline; attempts++) {
    const { answer } = await requestJoin(backend, token, about)
    if ('refused' in answer)
      throw new RalphError('JOIN_REFUSED', answer.refused, { hint: 'create a new one with: ralph machine token' })
    if ('machineId' in answer) {
      const { machineId, certificate, authorities } = answer
      const kept = { ...settings, labels: [...settings.labels], roots: [...settings.roots] }
      const identity: MachineIdentity = { machineId, backend, key, certificate, authorities, settings: kept }
      await saveIdentity(home, identity)
      return identity
    }
    if (attempts === 0) joining.onPending()
    await new Promise((resolve) => setTimeout(resolve, approvalPollIntervalMs))
  }
  throw new RalphError('JOIN_PENDING', 'no admin approved this machine in time', {
    hint: 'join again with a new token',
  })
}

/** Whether this machine has joined, and its certificate has not ended. */
export async function hasValidIdentity(home: string, now: number): Promise<boolean> {
  const identity = await readIdentity(home)
  return identity !== undefined && Date.parse(new X509Certificate(identity.certificate).validTo) > now
}

type RemoteOptions = Pick<
  AgentsServerOptions,
  'home' | 'env' | 'version' | 'installedVersion' | 'createProver' | 'log' | 'timing'
>

const renewalCheckIntervalMs = 60_000

/** Runs the agents-server of a joined machine and renews its certificate. */
export async function startRemoteAgentsServer(options: RemoteOptions): Promise<AgentsServer> {
  const { home } = options
  const first = await readIdentity(home)
  if (!first) {
    throw new RalphError('JOIN_REFUSED', 'this machine has not joined a backend yet', {
      hint: 'create a token on the backend with "ralph machine token", then run here: ralph agents-server join <token>',
    })
  }
  let identity = first
  let line: Line | undefined
  const look = async () => {
    if (!line || !isRenewalDue(identity.certificate, Date.now())) return
    identity = await renewCertificate(identity, line)
    await saveIdentity(home, identity)
    options.log('certificate renewed')
  }
  const timer = setInterval(() => void look().catch(() => {}), renewalCheckIntervalMs).unref()
  const server = await startAgentsServer({
    ...options,
    machineId: identity.machineId,
    settings: identity.settings,
    connect: () =>
      dialBackend({ ...identity.backend, credentials: toCredentials(identity), authorities: identity.authorities }),
    onLine: (opened) => {
      line = opened
      void look().catch(() => {})
    },
  })
  return {
    ...server,
    close: async () => {
      clearInterval(timer)
      await server.close()
    },
  }
}

/** Whether two thirds of its lifetime are over. */
export function isRenewalDue(certificate: string, now: number): boolean {
  const { validFrom, validTo } = new X509Certificate(certificate)
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
  return now >= from + ((to - from) * 2) / 3
}

/** Uses a new key, over the session that the old one opened. */
async function renewCertificate(identity: MachineIdentity, line: Line): Promise<MachineIdentity> {
  const { key, csr } = await createKeyAndRequest(identity.settings.name)
  const reply = decodeReportReply('renew', await line.call('renew', encodeReport('renew', { csr }), 30_000))
  return { ...identity, key, certificate: reply.certificate, authorities: reply.authorities }
}
