import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { createAuthority, openAuthority, type Authority } from '../channel/authority.ts'
import { createTransportPair, type Transport } from '../channel/transport.ts'
import { postWebhook } from '../platform/net/webhook.ts'
import { newUuid } from '../platform/uuid.ts'
import type { Database } from './database/database.ts'
import { authorities, machines as machineRows } from './database/machine.ts'
import { openDatabase, type DatabasePlace } from './database/open-database.ts'
import { sealStoredSecrets } from './secrets/seal-secrets.ts'
import { createSecretBox, type SecretBox } from './secrets/secret-box.ts'
import { recordRowChanges } from './feed/event-log.ts'
import { createOutbox, outboxTopic } from './machines/machine-state.ts'
import { openFleet, type OpenFleet } from './open-fleet.ts'
import type { Fleet } from './fleet/fleet.ts'
import type { ObservedSprints } from './fleet/observed.ts'
import { transaction } from './fleet/transaction.ts'
import { createApp, type AppDeps } from './http/app.ts'
import type { ApiCaller } from './http/calls/call.ts'
import { createEventStreams, type EventTimes } from './http/streams/event-streams.ts'
import { createFeed } from './feed/feed.ts'
import { originAddresses, loopbackAddresses, type Addresses } from './http/guard.ts'
import { agentHandlers } from './http/handlers/agents.ts'
import { machineRouteHandlers, type MachineAdmission } from './http/handlers/machines.ts'
import { machineGrantHandlers } from './http/handlers/machine-grants.ts'
import { peopleHandlers } from './http/handlers/people.ts'
import { sprintHandlers } from './http/handlers/sprints.ts'
import { ensureLocalUser, createAuthentication, type UserAuthentication } from './http/identity.ts'
import { listenHttp, type ListenOptions } from './http/listen.ts'
import { formatMetrics } from './http/metrics.ts'
import type { oidcRoutes as OidcRoutes, OidcSettings } from './http/oidc.ts'
import { createAuditLog } from './http/calls/audit.ts'
import { createIdempotency } from './http/calls/idempotency.ts'
import { createRateLimit } from './http/calls/rate-limit.ts'
import { createSignInLimit } from './http/calls/sign-in-limit.ts'
import { createPageFiles } from './http/page-files.ts'
import { readCallerRights } from './http/calls/machine-access.ts'
import { readAccessLevel, readAccessLevels } from './http/calls/agent-access.ts'
import { issueJoinToken, type AdmissionParts } from './machines/admission.ts'
import { createMachineCalls, type MachineCalls } from './machines/machine-calls.ts'
import type { BackendLog } from './machines/connection.ts'
import { createDatabaseStore } from './machines/database-store.ts'
import { listenForMachines } from './machines/listener.ts'
import { openMachineLines, type MachineLines } from './machines/machine-lines.ts'
import { createMessageHandlers as takeFromMachines } from './machines/message-handlers.ts'
import { createNotifications, type NotificationSender } from './notifications/notifications.ts'

export type BackendOptions = Pick<ListenOptions, 'host' | 'port' | 'tls'> & {
  readonly place: DatabasePlace
  /** The folder with the numbered SQL files. */
  readonly migrations: string
  /** The folder with the files of the page. */
  readonly page: string
  readonly version: string
  /** The name of the only user of a backend without accounts. */
  readonly userName: string
  readonly oidc?: OidcSettings | undefined
  /** Encrypts secrets in the database; absent: they are stored as they are. */
  readonly secretsKey?: string | undefined
  /** The address users open, if it differs from the address to listen on. */
  readonly publicOrigin?: string | undefined
  /** Where machines connect; absent: only the local machine. */
  readonly machines?: { readonly host: string; readonly port: number; readonly publicHost?: string } | undefined
  /** Users with a grant may run agents on the machine inside this process. Default: only the local user. */
  readonly shareMachine?: boolean | undefined
  readonly project?: string | undefined
  readonly compiling: Fleet['compiling']
  /** Sprints of this computer that `ralph run` controls; absent: none are observed. */
  readonly observed?: ObservedSprints | undefined
  readonly settings?: Partial<Fleet['settings']>
  readonly eventTimes?: Partial<EventTimes>
  readonly log: BackendLog
  /** The other replicas consider this one dead: it must exit. */
  readonly onLost: (reason: string) => void
}

export interface Backend {
  readonly database: Database
  readonly fleet: Fleet
  readonly origin: string
  readonly machinePort: number | undefined
  /** Creates an address that signs the local user in, once. */
  readonly ticketAddress: () => Promise<string>
  /** Creates a token with which commands on this machine act as the local user. */
  readonly commandToken: () => Promise<string>
  /** The machine inside this process: its ID, and how it connects. */
  readonly localMachine: (
    name: string,
  ) => Promise<{ readonly machineId: string; readonly connect: () => Promise<Transport> }>
  readonly joinCommand: (name?: string) => Promise<string>
  readonly close: () => Promise<void>
}

const now = () => Date.now()

/** Opens all parts of a backend and starts it. */
export async function openBackend(options: BackendOptions): Promise<Backend> {
  const opened: CloseFunction[] = []
  try {
    return await openBackendParts(options, opened)
  } catch (error) {
    await closeAll(opened)
    throw error
  }
}

type CloseFunction = () => Promise<void>

/** Closes in reverse order. */
async function closeAll(opened: readonly CloseFunction[]): Promise<void> {
  for (const close of opened.toReversed()) await close()
}

async function openBackendParts(options: BackendOptions, opened: CloseFunction[]): Promise<Backend> {
  let isOver = false
  // Errors after the database is closed are expected.
  const trouble = (error: unknown, doing = 'request') =>
    isOver ||
    options.log('warn', error instanceof Error ? error.message : String(error), { doing, stack: errorStack(error) })
  const onTrouble = (error: Error) => trouble(error, 'database')
  const database = await openDatabase(options.place, { migrations: options.migrations, onError: onTrouble })
  opened.push(() => {
    isOver = true
    return database.close()
  })
  const box = createSecretBox(options.secretsKey)
  await sealStoredSecrets(database, box)
  const authority = await openBackendAuthority(database, box)
  const line = await openLines(options, { database, box, authority, logError: trouble })
  opened.push(line.close)
  const persons = createAuthentication(database, now)
  const userId = await ensureLocalUser(database, options.userName, now())
  const http = await serveHttp(options, { database, box, persons, line, logError: trouble })
  opened.push(http.close)
  return {
    database,
    fleet: line.fleet,
    origin: http.origin,
    machinePort: line.port,
    ticketAddress: () => http.ticketAddress(userId, 'admin'),
    commandToken: () => persons.createCommandToken(userId, newUuid()),
    localMachine: async (name) => {
      const machineId = await ensureLocalMachine(database, {
        name,
        ownerId: userId,
        shared: options.shareMachine ?? false,
      })
      const connect = async () => {
        const [ours, theirs] = createTransportPair(randomBytes(32))
        void line.lines.attach(ours, machineId).catch(trouble)
        return theirs
      }
      return { machineId, connect }
    },
    joinCommand: async (name) => (await line.admission.token({ name, createdBy: userId })).command,
    close: () => closeAll(opened),
  }
}

const errorStack = (error: unknown): string | undefined => (error instanceof Error ? error.stack : undefined)

type BackendBase = {
  readonly database: Database
  readonly box: SecretBox
  readonly logError: (error: unknown, doing?: string) => void
}

type OpenLines = {
  readonly fleet: OpenFleet
  readonly sender: NotificationSender
  readonly lines: MachineLines
  readonly admission: MachineAdmission
  readonly port: number | undefined
  readonly close: () => Promise<void>
}

/** Opens the fleet and the lines to its machines, which need each other. */
async function openLines(
  options: BackendOptions,
  base: BackendBase & { readonly authority: Authority },
): Promise<OpenLines> {
  const { database, box, authority, logError } = base
  const { log, version } = options
  const known: { fleet?: OpenFleet; asking?: MachineCalls } = {}
  const fleet = () => assertDefined(known.fleet)
  const store = createDatabaseStore(database, {
    now,
    newId: newUuid,
    replicaId: () => fleet().engine.executorId,
    onChange: async (machineId) => {
      await transaction(fleet(), (t) => recordRowChanges(t, { kind: 'machine', machineId }))
    },
  })
  const readEpoch = async (machineId: string) => {
    const [row] = await database.db.select().from(machineRows).where(eq(machineRows.id, machineId))
    return row?.epoch ?? 0
  }
  const handlers = takeFromMachines({
    fleet,
    calls: () => assertDefined(known.asking),
    readEpoch: readEpoch,
    log: logError,
  })
  const lines = openMachineLines({ store, handlers, authority, version, now, log })
  const asking = createMachineCalls({
    database,
    outbox: createOutbox({ database, clock: { now } }),
    lines,
    now,
    newId: newUuid,
    log: logError,
  })
  known.asking = asking
  const engine = () => fleet().engine
  const sender = createNotifications({ database, box, engine, now, newId: newUuid, post: postWebhook })
  const { compiling, settings = {}, observed, onLost } = options
  const parts = { database, machines: asking, notifications: sender, clock: { now }, newId: newUuid }
  known.fleet = await openFleet({ ...parts, compiling, observed, settings, logError, onLost })
  await sender.resume()
  const unsubscribe = database.signals.on(outboxTopic, (machineId) => lines.wake(machineId))
  const admission = { store, authority, now, log, recordJoin: createJoinRecorder(base) }
  const listener = options.machines && (await listenForMachines({ ...admission, ...options.machines, machines: lines }))
  return {
    fleet: known.fleet,
    sender,
    lines,
    port: listener?.port,
    admission: createMachineAdmission(admission, lines, machineAddress(options, listener?.port)),
    close: async () => {
      unsubscribe()
      await listener?.close()
      lines.close()
      asking.close()
      await fleet().close()
    },
  }
}

function createJoinRecorder({ database, logError }: BackendBase): NonNullable<AdmissionParts['recordJoin']> {
  const { recordEvent } = createAuditLog(database, now)
  return (event) => recordEvent(event).catch(logError)
}

function assertDefined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('used before it was opened')
  return value
}

const machineAddress = ({ machines }: BackendOptions, port: number | undefined): string | undefined =>
  machines && port !== undefined ? `${machines.publicHost ?? machines.host}:${port}` : undefined

function createMachineAdmission(
  admission: AdmissionParts,
  lines: MachineLines,
  address: string | undefined,
): MachineAdmission {
  return {
    token: async (wanted) => {
      const made = await issueJoinToken(wanted, admission)
      return { ...made, command: `ralph agents-server join ${made.token} --backend ${address ?? '<host>:<port>'}` }
    },
    revoke: async (machineId) => {
      await admission.store.setStatus(machineId, 'revoked')
      lines.drop(machineId, 'revoked')
    },
  }
}

type HttpEndpoint = {
  readonly origin: string
  readonly ticketAddress: (userId: string, scope: ApiCaller['scope']) => Promise<string>
  readonly close: () => Promise<void>
}

async function serveHttp(
  options: BackendOptions,
  parts: BackendBase & { readonly persons: UserAuthentication; readonly line: OpenLines },
): Promise<HttpEndpoint> {
  const { database, box, persons, line, logError } = parts
  const { version, project, oidc, host, port, tls, publicOrigin } = options
  const { fleet, sender, lines } = line
  const feed = createFeed(database, { now, log: logError })
  const levels = (who: ApiCaller) => readAccessLevels(database, who)
  const events = createEventStreams({ feed, levels, log: logError, times: options.eventTimes })
  const audit = createAuditLog(database, now)
  const own: { addresses?: Addresses; origin?: string } = {}
  const ticketAddress: HttpEndpoint['ticketAddress'] = async (userId, scope) =>
    `${own.origin}/sign-in#${await persons.createTicket(userId, scope)}`
  const app = createApp({
    version,
    secure: tls !== undefined || publicOrigin?.startsWith('https:') === true,
    addresses: () => own.addresses ?? { hosts: new Set(), origins: new Set() },
    identity: persons,
    handlers: {
      ...peopleHandlers({ database, box, sender, now, newId: newUuid, version, project, ticketAddress }),
      ...agentHandlers(fleet),
      ...sprintHandlers(fleet),
      ...machineRouteHandlers(fleet, line.admission, version),
      ...machineGrantHandlers(database, now),
    },
    ...createAccessReaders(database),
    events,
    idempotent: createIdempotency(database, now),
    ...createLimits(),
    behindProxy: publicOrigin !== undefined,
    audit,
    ready: () => isDatabaseReady(database),
    metrics: async () => {
      const { connected, refusedFrames } = lines.counts()
      return formatMetrics(database, { viewers: events.viewers(), machines: connected, refusedFrames })
    },
    page: createPageFiles(options.page),
    addRoutes: oidc && (await loadOidcRoutes(oidc, { people: persons, database, now, newId: newUuid, audit })),
    log: logError,
  })
  const listening = await listenHttp(app, { host, port, tls, authenticates: oidc !== undefined }).catch(
    (error: unknown) => {
      events.close()
      feed.close()
      throw error
    },
  )
  own.addresses = publicOrigin === undefined ? loopbackAddresses(listening.port) : originAddresses(publicOrigin)
  own.origin = publicOrigin ?? listening.origin
  return {
    origin: own.origin,
    ticketAddress,
    close: async () => {
      events.close()
      feed.close()
      await listening.close()
    },
  }
}

const createAccessReaders = (database: Database): Pick<AppDeps, 'accessLevel' | 'machineRights'> => ({
  accessLevel: (who, ids) => readAccessLevel(database, who, ids),
  machineRights: (who, ids) => readCallerRights(database, who, ids),
})

const createLimits = (): Pick<AppDeps, 'rateLimit' | 'signInLimit'> => ({
  rateLimit: createRateLimit(now),
  signInLimit: createSignInLimit(now),
})

/** Loads the OIDC client only for backends with accounts. */
const loadOidcRoutes = async (...given: Parameters<typeof OidcRoutes>) =>
  (await import('./http/oidc.ts')).oidcRoutes(...given)

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

/** The authority that machines trust; created at the first start and shared by all replicas. */
async function openBackendAuthority({ db }: Database, box: SecretBox): Promise<Authority> {
  const open = ({ key, ...row }: typeof authorities.$inferSelect) =>
    openAuthority({ ...row, key: box.open(key, 'authority key') })
  const [kept] = await db.select().from(authorities)
  if (kept) return open(kept)
  const { key, ...authority } = await createAuthority(now())
  const row = { ...authority, key: box.seal(key, 'authority key') }
  await db.insert(authorities).values(row).onConflictDoNothing()
  const [made] = await db.select().from(authorities)
  return open(assertDefined(made))
}

/** The machine that this backend runs on. */
async function ensureLocalMachine(
  { db }: Database,
  { name, ...owned }: { readonly name: string; readonly ownerId: string; readonly shared: boolean },
): Promise<string> {
  const [known] = await db.update(machineRows).set(owned).where(eq(machineRows.local, true)).returning()
  if (known) return known.id
  const id = newUuid()
  await db.insert(machineRows).values({ id, name, status: 'active', local: true, createdAt: now(), ...owned })
  return id
}
