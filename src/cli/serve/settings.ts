import { join, resolve } from 'node:path'
import type { BackendOptions } from '../../backend/open-backend.ts'
import { RalphError } from '../../contract/errors.ts'
import { Period } from '../../contract/time.ts'
import { readTextSyncIfExists } from '../../platform/files/files.ts'
import { readTrustedCertificates } from '../../platform/net/trust.ts'
import { templateDatabasePath } from '../io/assets.ts'
import type { Io } from '../io/io.ts'
import { ralphHome } from '../../platform/ralph-home.ts'

export type ServeFlags = {
  readonly port?: string
  readonly host?: string
  readonly data?: string
  readonly origin?: string
  readonly 'machines-port'?: string
  readonly 'machines-host'?: string
  readonly 'tls-cert'?: string
  readonly 'tls-key'?: string
  readonly 'first-admin'?: string
  readonly 'behind-proxy'?: boolean
  readonly invitations?: boolean
  readonly 'also-host'?: string
  readonly 'machines-address'?: string
  readonly ca?: string
  readonly backups?: string
  readonly 'keep-history'?: string
  readonly notes?: string
}

export type ServeSettings = Pick<
  BackendOptions,
  | 'host'
  | 'port'
  | 'tls'
  | 'behindProxy'
  | 'invitations'
  | 'alsoHosts'
  | 'adminToken'
  | 'scrapeToken'
  | 'trusted'
  | 'place'
  | 'publicOrigin'
  | 'oidc'
  | 'machines'
  | 'shareMachine'
  | 'historyMs'
> & {
  readonly dataFolder: string
  /** Daily backups of the embedded database to keep; 0: none are made. */
  readonly backups: number
  /** The file with the certificate that the backend serves, for the commands of the same user. */
  readonly certificateFile?: string | undefined
  /** Where agents on this computer keep their notes. */
  readonly notes: string
}

const defaultPort = 7257

/** Validates flags and environment variables. */
export function parseServeSettings(flags: ServeFlags, io: Io): ServeSettings {
  const dataFolder = resolveDataFolder(flags.data, io)
  const url = io.env['DATABASE_URL']
  const publicOrigin = flags.origin === undefined ? undefined : parseOrigin(flags.origin)
  const machinesPort = parsePort(flags['machines-port'], '--machines-port')
  return {
    dataFolder,
    backups: parseBackupCount(flags.backups),
    historyMs: parseHistory(flags['keep-history']),
    notes: resolveNotes(flags.notes, io),
    host: flags.host ?? '127.0.0.1',
    port: parsePort(flags.port, '--port') ?? defaultPort,
    tls: readTlsFiles(flags, io),
    certificateFile: flags['tls-cert'] === undefined ? undefined : resolve(io.cwd, flags['tls-cert']),
    invitations: flags.invitations === true,
    alsoHosts: flags['also-host']?.split(',').map((name) => name.trim().toLowerCase()),
    adminToken: parseChosenToken('RALPH_ADMIN_TOKEN', io),
    scrapeToken: parseChosenToken('RALPH_METRICS_TOKEN', io),
    trusted: readTrustedCertificates({ env: io.env, ca: flags.ca }),
    behindProxy: assertProxyOrigin(flags, publicOrigin),
    place: url ? { url } : { dataFolder, template: templateDatabasePath() },
    publicOrigin,
    oidc: parseOidcSettings(io, publicOrigin, flags['first-admin']),
    machines:
      machinesPort === undefined && flags['machines-host'] === undefined
        ? undefined
        : parseMachinesAddress(machinesPort ?? defaultPort + 1, flags['machines-host'] ?? flags.host, {
            origin: publicOrigin,
            address: flags['machines-address'],
          }),
  }
}

/** An empty variable counts as unset. */
export function resolveNotes(flag: string | undefined, io: Io): string {
  const chosen = flag ?? (io.env['RALPH_NOTES'] || undefined)
  return chosen === undefined ? join(ralphHome(io), 'notes', '{agent}') : resolve(io.cwd, chosen)
}

export const resolveDataFolder = (flag: string | undefined, io: Io): string =>
  flag === undefined ? join(ralphHome(io), 'backend') : resolve(io.cwd, flag)

type PublicAddress = { readonly origin: string | undefined; readonly address: string | undefined }

function parseMachinesAddress(port: number, host = '127.0.0.1', { origin: publicOrigin, address }: PublicAddress) {
  if (address !== undefined) {
    const [, name, number] = /^(.+):(\d{1,5})$/.exec(address) ?? []
    if (name === undefined) throw new RalphError('USAGE', `--machines-address expects HOST:PORT, not "${address}"`)
    return { host, port, publicHost: name, publicPort: Number(number) }
  }
  const publicHost = publicOrigin === undefined ? undefined : new URL(publicOrigin).hostname
  return { host, port, ...(publicHost !== undefined && { publicHost }) }
}

function parsePort(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== '') return port
  throw new RalphError('USAGE', `${flag} expects a port from 0 to 65535, not "${text}"`)
}

const defaultBackups = 7

function parseBackupCount(text = `${defaultBackups}`): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 0 && text.trim() !== '') return count
  throw new RalphError('USAGE', `--backups expects a whole number, not "${text}"`)
}

/** Undefined: the default of the backend. */
function parseHistory(text: string | undefined): number | 'all' | undefined {
  if (text === undefined || text === 'all') return text
  const period = Period.safeParse(text)
  if (period.success && period.data > 0) return period.data
  throw new RalphError('USAGE', `--keep-history expects a period such as 90d, or "all", not "${text}"`)
}

/** A token that the operator has chosen, from a variable. */
function parseChosenToken(name: string, { env }: Io): string | undefined {
  const token = env[name]
  if (!token || /^[\w.-]{20,300}$/.test(token)) return token || undefined
  throw new RalphError('USAGE', `${name} expects 20 to 300 letters, digits, ".", "_" or "-"`, {
    hint: 'openssl rand -hex 32',
  })
}

function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && (url.protocol === 'https:' || url.protocol === 'http:') && url.pathname === '/') return url.origin
  throw new RalphError('USAGE', `--origin expects an address like https://ralph.example.com, not "${text}"`)
}

/** Without the public address, requests through the proxy would be refused: their host name is unknown. */
function assertProxyOrigin({ 'behind-proxy': behindProxy = false }: ServeFlags, origin: string | undefined): boolean {
  if (behindProxy && origin === undefined)
    throw new RalphError('USAGE', '--behind-proxy requires --origin, the address that users open')
  return behindProxy
}

function readTlsFiles({ 'tls-cert': cert, 'tls-key': key }: ServeFlags, io: Io): ServeSettings['tls'] {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined)
    throw new RalphError('USAGE', '--tls-cert and --tls-key must be used together')
  const read = () => ({
    certificate: readTlsFile(resolve(io.cwd, cert)),
    key: readTlsFile(resolve(io.cwd, key)),
  })
  return { ...read(), read }
}

function readTlsFile(path: string): string {
  const text = readTextSyncIfExists(path)
  if (text === undefined) throw new RalphError('FILE_NOT_FOUND', 'file not found', { place: { file: path } })
  return text
}

/** Secrets come from the environment, where the process list does not show them. */
function parseOidcSettings({ env }: Io, origin: string | undefined, firstAdmin?: string): ServeSettings['oidc'] {
  const issuer = env['RALPH_OIDC_ISSUER']
  if (!issuer && firstAdmin !== undefined)
    throw new RalphError('USAGE', '--first-admin requires an identity provider', { hint: 'set RALPH_OIDC_ISSUER' })
  if (!issuer) return undefined
  if (firstAdmin !== undefined && !/^[^@\s]+@[^@\s]+$/.test(firstAdmin))
    throw new RalphError('USAGE', `--first-admin expects an address like ada@example.com, not "${firstAdmin}"`)
  const need = (name: string): string => {
    const value = env[name]
    if (value) return value
    throw new RalphError('USAGE', `RALPH_OIDC_ISSUER is set, but ${name} is not`, { hint: 'see docs/guides/fleet.md' })
  }
  if (origin === undefined) throw new RalphError('USAGE', 'sign-in with an identity provider requires --origin')
  const allow = need('RALPH_OIDC_ALLOW')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  return {
    issuer,
    origin,
    allow,
    clientId: need('RALPH_OIDC_CLIENT_ID'),
    clientSecret: need('RALPH_OIDC_CLIENT_SECRET'),
    ...(firstAdmin !== undefined && { firstAdmin }),
  }
}
