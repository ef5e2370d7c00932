import { isIP } from 'node:net'
import { newUuid } from '../platform/uuid.ts'
import type { Database } from './database/database.ts'
import { createEventStreams } from './http/streams/event-streams.ts'
import { machineRouteHandlers } from './http/handlers/machines.ts'
import type { UserAuthentication } from './http/identity.ts'
import { createAuditLog } from './http/calls/audit.ts'
import { listenHttp } from './http/listen.ts'
import type { oidcRoutes as OidcRoutes } from './http/oidc.ts'
import type { MachineLines } from './machines/machine-lines.ts'
import type { BackendBase, BackendOptions, OpenLines } from './open-backend.ts'
import { createApp, type AppDeps } from './http/app.ts'
import type { ApiCaller } from './http/calls/call.ts'
import { createFeed } from './feed/feed.ts'
import { originAddresses, loopbackAddresses, type Addresses } from './http/guard.ts'
import { agentHandlers } from './http/handlers/agents.ts'
import { machineGrantHandlers } from './http/handlers/machine-grants.ts'
import { budgetHandlers } from './http/handlers/budgets.ts'
import { passkeyHandlers } from './http/handlers/passkeys.ts'
import { createPasskeys } from './http/passkeys.ts'
import { operationHandlers } from './http/handlers/operations.ts'
import { peopleHandlers } from './http/handlers/people.ts'
import { pushHandlers } from './http/handlers/push.ts'
import { sprintFileHandlers } from './http/handlers/sprint-files.ts'
import { sprintHandlers } from './http/handlers/sprints.ts'
import { createIdempotency } from './http/calls/idempotency.ts'
import { createRateLimit } from './http/calls/rate-limit.ts'
import { createSignInLimit } from './http/calls/sign-in-limit.ts'
import { certificateExpiry } from './http/tls-certificate.ts'
import { createPageFiles } from './http/page-files.ts'
import { readCallerRights } from './http/calls/machine-access.ts'
import { readAccessLevel, readAccessLevels } from './http/calls/agent-access.ts'
import { readMetrics } from './http/read-metrics.ts'

const now = () => Date.now()

type HttpEndpoint = {
  readonly origin: string
  readonly listening: string
  readonly ticketAddress: UserAuthentication['createTicket']
  readonly close: () => Promise<void>
}

/** Binds the API and the page to a port. */
export async function serveHttp(
  options: BackendOptions,
  parts: BackendBase & { readonly persons: UserAuthentication; readonly line: OpenLines },
): Promise<HttpEndpoint> {
  const { database, box, persons, line, logError } = parts
  const { version, oidc, host, port, tls, publicOrigin, behindProxy, log } = options
  const { lines } = line
  const feed = createFeed(database, { now, log: logError, historyMs: options.historyMs })
  const levels = (who: ApiCaller) => readAccessLevels(database, who)
  const events = createEventStreams({ feed, levels, log: logError, times: options.eventTimes })
  const audit = createAuditLog(database, now)
  const own: { addresses?: Addresses; origin?: string } = {}
  const ticketAddress: HttpEndpoint['ticketAddress'] = async (...args) =>
    `${own.origin}/sign-in#${await persons.createTicket(...args)}`
  const passkeys = createPasskeyFinder(database, () => own.origin)
  const app = createApp({
    version,
    secure: tls !== undefined || publicOrigin?.startsWith('https:') === true,
    addresses: () => own.addresses ?? { hosts: new Set(), origins: new Set() },
    identity: persons,
    handlers: createHandlers(options, { database, box, line, ticketAddress, passkeys }),
    passkeys,
    createSession: persons.createSession,
    ...createAccessReaders(database),
    events,
    idempotent: createIdempotency(database, now),
    ...createLimits(),
    behindProxy: publicOrigin !== undefined,
    audit,
    ready: () => isDatabaseReady(database),
    scrapeToken: options.scrapeToken,
    metrics: createMetricsReader(options, { database, lines, viewers: events.viewers }),
    page: createPageFiles(options.page),
    addRoutes: await loadSignInRoutes(options, { people: persons, database, now, newId: newUuid, audit }),
    log: logError,
  })
  const stop = () => {
    events.close()
    feed.close()
  }
  const authenticates = oidc !== undefined || options.invitations === true
  const listening = await listenHttp(app, { host, port, tls, behindProxy, log, authenticates }).catch(
    (error: unknown) => {
      stop()
      throw error
    },
  )
  const known = publicOrigin === undefined ? loopbackAddresses(listening.port) : originAddresses(publicOrigin)
  own.addresses = { ...known, hosts: new Set([...known.hosts, ...(options.alsoHosts ?? [])]) }
  own.origin = publicOrigin ?? listening.origin
  return {
    origin: own.origin,
    listening: listening.origin.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//127.0.0.1:'),
    ticketAddress,
    close: async () => {
      stop()
      await listening.close()
    },
  }
}

type HandlerParts = {
  readonly database: Database
  readonly box: BackendBase['box']
  readonly line: OpenLines
  readonly ticketAddress: HttpEndpoint['ticketAddress']
  readonly passkeys: AppDeps['passkeys']
}

function createPasskeyFinder(database: Database, origin: () => string | undefined): AppDeps['passkeys'] {
  const passkeys = createPasskeys({ database, now, newId: newUuid, origin: () => origin() ?? '' })
  return () => (hasHostName(origin() ?? 'http://127.0.0.1') ? passkeys : undefined)
}

/** Browsers bind passkeys to a host name, and an IP address is none. */
const hasHostName = (origin: string): boolean => isIP(new URL(origin).hostname.replaceAll(/[[\]]/g, '')) === 0

const invitationMs = 3 * 86_400_000

function createHandlers(
  options: BackendOptions,
  { database, box, line, ticketAddress, passkeys }: HandlerParts,
): AppDeps['handlers'] {
  const { version, project, migrations, place, startDemo } = options
  const demo = startDemo !== undefined
  const { fleet, sender, admission } = line
  // The scope is an upper bound: what the user may do follows from the role.
  const inviteAddress = async (userId: string) => ({
    address: await ticketAddress(userId, 'admin', invitationMs),
    expiresAt: now() + invitationMs,
  })
  const dataFolder = 'dataFolder' in place ? place.dataFolder : undefined
  return {
    ...peopleHandlers({ database, box, sender, now, newId: newUuid, version, project, demo, ticketAddress }),
    ...pushHandlers({ database, box, now, newId: newUuid }),
    ...agentHandlers(fleet),
    ...sprintHandlers(fleet),
    ...sprintFileHandlers(fleet),
    ...budgetHandlers(fleet),
    ...passkeyHandlers(passkeys),
    ...machineRouteHandlers(fleet, admission, version),
    ...machineGrantHandlers(database, now),
    ...operationHandlers({ database, dataFolder, migrations, version, now, newId: newUuid, startDemo, inviteAddress }),
  }
}

const createMetricsReader =
  (
    { version, tls }: BackendOptions,
    { database, lines, viewers }: { database: Database; lines: MachineLines; viewers: () => number },
  ) =>
  (): Promise<string> => {
    const { connected, refusedFrames } = lines.counts()
    const certificateExpiresAt = tls && certificateExpiry(tls.read?.() ?? tls)
    return readMetrics(database, { version, viewers: viewers(), lines: connected, refusedFrames, certificateExpiresAt })
  }

const createAccessReaders = (database: Database): Pick<AppDeps, 'accessLevel' | 'machineRights'> => ({
  accessLevel: (who, ids) => readAccessLevel(database, who, ids),
  machineRights: (who, ids) => readCallerRights(database, who, ids),
})

const createLimits = (): Pick<AppDeps, 'rateLimit' | 'signInLimit'> => ({
  rateLimit: createRateLimit(now),
  signInLimit: createSignInLimit(now),
})

/** Loads the OIDC client only for backends with an identity provider. */
const loadSignInRoutes = async ({ oidc, trusted }: BackendOptions, deps: Parameters<typeof OidcRoutes>[1]) =>
  oidc && (await import('./http/oidc.ts')).oidcRoutes({ ...oidc, trusted }, deps)

const readyMs = 2000

/** Whether the database answers within `readyMs`. */
async function isDatabaseReady({ pool }: Database): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), readyMs).unref())
  const answered = pool.query('select 1').then(
    ({ rowCount }) => rowCount === 1,
    () => false,
  )
  return Promise.race([answered, late])
}
