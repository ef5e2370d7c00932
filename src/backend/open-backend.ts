import { randomBytes } from 'node:crypto'
import { errorMessage } from '../contract/errors.ts'
import { DrizzleQueryError, eq } from 'drizzle-orm'
import { createAuthority, openAuthority, type Authority } from '../connection/authority.ts'
import { createTransportPair, type Transport } from '../connection/transport.ts'
import { postPublicly } from '../platform/net/public-post.ts'
import { postWebhook } from '../platform/net/webhook.ts'
import { newUuid } from '../platform/uuid.ts'
import type { Database } from './database/database.ts'
import { explainDatabaseError } from './database/database-unavailable.ts'
import { authorities, machines as machineRows } from './database/machine.ts'
import { openDatabase, type DatabasePlace } from './database/open-database.ts'
import { createOutageFilter, createOutageWatch, probeWrite, type OutageWatch } from './database/outage.ts'
import { sealStoredSecrets } from './secrets/seal-secrets.ts'
import { createSecretBox, type SecretBox } from './secrets/secret-box.ts'
import { recordRowChanges } from './feed/event-log.ts'
import { createOutbox, outboxTopic } from './machines/machine-state.ts'
import { openFleet, type OpenFleet } from './open-fleet.ts'
import { serveHttp } from './serve-http.ts'
import type { Fleet } from './fleet/fleet.ts'
import type { ObservedSprints } from './fleet/observed.ts'
import type { StartedDemo } from '../contract/fleet/operation-routes.ts'
import { transaction } from './fleet/transaction.ts'
import type { EventTimes } from './http/streams/event-streams.ts'
import type { MachineAdmission } from './http/handlers/machines.ts'
import { ensureLocalUser, createAuthentication } from './http/identity.ts'
import type { ListenOptions } from './http/listen.ts'
import type { OidcSettings } from './http/oidc.ts'
import { createAuditLog } from './http/calls/audit.ts'
import { issueJoinToken, type AdmissionParts } from './machines/admission.ts'
import { createMachineCalls, type MachineCalls } from './machines/machine-calls.ts'
import type { BackendLog } from './machines/connection.ts'
import { createDatabaseStore } from './machines/database-store.ts'
import { listenForMachines } from './machines/listener.ts'
import { openMachineLines, type MachineLines } from './machines/machine-lines.ts'
import { createMessageHandlers } from './machines/message-handlers.ts'
import { createPushChannel, type PushChannelOptions } from './notifications/push.ts'
import {
  createNotificationSender,
  type NotifierOptions,
  type NotificationSender,
} from './notifications/notifications.ts'

export type BackendOptions = Pick<ListenOptions, 'host' | 'port' | 'tls' | 'behindProxy'> & {
  readonly place: DatabasePlace
  /** The folder with the numbered SQL files. */
  readonly migrations: string
  /** The folder with the files of the page. */
  readonly page: string
  readonly version: string
  /** The name of the only user of a backend without accounts. */
  readonly userName: string
  readonly oidc?: OidcSettings | undefined
  /** Certificates that the backend trusts when it calls webhooks and the identity provider; default: those of Node. */
  readonly trusted?: readonly string[] | undefined
  /** Encrypts secrets in the database; absent: they are stored as they are. */
  readonly secretsKey?: string | undefined
  /** The address users open, if it differs from the address to listen on. */
  readonly publicOrigin?: string | undefined
  /** Users sign in with addresses that an admin sends them. */
  readonly invitations?: boolean | undefined
  /** Further `host:port` that programs call the API with, such as the name of a service. */
  readonly alsoHosts?: readonly string[] | undefined
  /** A token of the local user that the operator has chosen, for containers that join by themselves. */
  readonly adminToken?: string | undefined
  /** A token that may only read `/metrics`. */
  readonly scrapeToken?: string | undefined
  /** Where machines connect; absent: only the local machine. */
  readonly machines?:
    | { readonly host: string; readonly port: number; readonly publicHost?: string; readonly publicPort?: number }
    | undefined
  /** Users with a grant may run agents on the machine inside this process. Default: only the local user. */
  readonly shareMachine?: boolean | undefined
  readonly project?: string | undefined
  /** Starts a demo sprint on this computer; absent: the page offers none. */
  readonly startDemo?: (() => Promise<StartedDemo>) | undefined
  readonly compiling: Fleet['compiling']
  /** Sprints of this computer that `ralph run` controls; absent: none are observed. */
  readonly observed?: ObservedSprints | undefined
  /** How long the events of agents and ended prompts are kept; default: 90 days. */
  readonly historyMs?: number | 'all' | undefined
  readonly traces?: Fleet['traces']
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
  /** Its address on this computer, whatever users open. */
  readonly listening: string
  readonly machinePort: number | undefined
  /** Creates an address that signs the local user in, once. */
  readonly ticketAddress: () => Promise<string>
  /** Creates a token with which commands on this machine act as the local user. */
  readonly commandToken: () => Promise<string>
  /** Ends the validity of such a token. */
  readonly deleteCommandToken: (token: string) => Promise<void>
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
    throw explainDatabaseError(error)
  }
}

type CloseFunction = () => Promise<void>

/** Closes in reverse order. */
async function closeAll(opened: readonly CloseFunction[]): Promise<void> {
  for (const close of opened.toReversed()) await close()
}

async function openBackendParts(options: BackendOptions, opened: CloseFunction[]): Promise<Backend> {
  const own: { outage?: OutageWatch; isClosed?: boolean } = {}
  // Until everything is open, the start itself throws the errors of the database.
  const known = createOutageFilter()
  const trouble = (error: unknown, doing = 'request') => {
    if (own.isClosed !== true && !known.covers(error, doing, own.outage)) logTrouble(error, doing, options.log)
  }
  const onError = (error: Error) => trouble(error, 'database')
  const database = await openDatabase(options.place, { migrations: options.migrations, onError })
  opened.push(() => {
    own.isClosed = true
    own.outage?.close()
    return database.close()
  })
  const box = createSecretBox(options.secretsKey)
  // First: throws if the key is not the one of the other replicas, before this one seals anything with it.
  const authority = await openBackendAuthority(database, box)
  await sealStoredSecrets(database, box)
  const line = await openLines(options, { database, box, authority, logError: trouble })
  opened.push(line.close)
  const persons = createAuthentication(database, now)
  const userId = await ensureLocalUser(database, options.userName, now())
  if (options.adminToken !== undefined)
    await persons.registerToken(userId, newUuid(), { name: 'RALPH_ADMIN_TOKEN', token: options.adminToken })
  const http = await serveHttp(options, { database, box, persons, line, logError: trouble })
  opened.push(http.close)
  const logOutage = (text: string, about: Readonly<Record<string, unknown>>) => options.log('warn', text, about)
  own.outage = createOutageWatch({ probe: () => probeWrite(database), log: logOutage, now })
  return {
    database,
    fleet: line.fleet,
    origin: http.origin,
    listening: http.listening,
    machinePort: line.port,
    ticketAddress: () => http.ticketAddress(userId, 'admin'),
    commandToken: () => persons.createCommandToken(userId, newUuid()),
    deleteCommandToken: persons.deleteToken,
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

/** Without the parameters of a query: they may be what users and agents wrote. */
function logTrouble(error: unknown, doing: string, log: BackendLog): void {
  const query = error instanceof DrizzleQueryError ? error.query : undefined
  const shown = query === undefined || !(error instanceof Error) ? error : (error.cause ?? new Error('a query failed'))
  log('warn', errorMessage(shown), { doing, query, stack: shown instanceof Error ? shown.stack : undefined })
}

export type BackendBase = {
  readonly database: Database
  readonly box: SecretBox
  readonly logError: (error: unknown, doing?: string) => void
}

export type OpenLines = {
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
  const handlers = createMessageHandlers({
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
  const sender = createSender(options, { database, box, engine: () => fleet().engine })
  const { compiling, settings = {}, observed, traces, onLost } = options
  const parts = { database, machines: asking, notifier: sender, clock: { now }, newId: newUuid }
  known.fleet = await openFleet({ ...parts, compiling, observed, traces, settings, logError, onLost })
  await sender.resume()
  const unsubscribe = database.signals.on(outboxTopic, (machineId) => lines.wake(machineId))
  const admission = { store, authority, now, log, recordJoin: createJoinRecorder(base) }
  const listener =
    options.machines && (await listenForMachines({ ...admission, ...options.machines, machines: lines, logError }))
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

function createSender(
  options: BackendOptions,
  parts: Pick<NotifierOptions, 'database' | 'engine'> & Pick<PushChannelOptions, 'box'>,
): NotificationSender {
  const push = createPushChannel({ ...parts, now, ...createPushPost(options) })
  return createNotificationSender({ ...parts, now, newId: newUuid, post: createPost(options), push })
}

const createPost =
  ({ trusted: ca }: BackendOptions): typeof postWebhook =>
  (url, body, how) =>
    postWebhook(url, body, { ...how, ca })

/** Push services want an address for complaints: this backend's own, if the internet may know it. */
const createPushPost = ({
  trusted: ca,
  publicOrigin,
}: BackendOptions): Pick<PushChannelOptions, 'post' | 'contact'> => ({
  contact: publicOrigin?.startsWith('https://') === true ? publicOrigin : 'mailto:push@ralph-mode.invalid',
  post: (endpoint, request) => postPublicly(endpoint, request, { ca }),
})

function createJoinRecorder({ database, logError }: BackendBase): NonNullable<AdmissionParts['recordJoin']> {
  const { recordEvent, recordRefusal } = createAuditLog(database, now)
  return (event, address) =>
    (event.what === 'joinRefused' ? recordRefusal(address, event) : recordEvent(event)).catch(logError)
}

function assertDefined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('used before it was opened')
  return value
}

const machineAddress = ({ machines }: BackendOptions, port: number | undefined): string | undefined =>
  machines && port !== undefined ? `${machines.publicHost ?? machines.host}:${machines.publicPort ?? port}` : undefined

function createMachineAdmission(
  admission: AdmissionParts,
  lines: MachineLines,
  address: string | undefined,
): MachineAdmission {
  return {
    token: async (options) => {
      const made = await issueJoinToken(options, admission)
      return { ...made, command: `ralph agents-server join ${made.token} --backend ${address ?? '<host>:<port>'}` }
    },
    revoke: async (machineId) => {
      await admission.store.setStatus(machineId, 'revoked')
      lines.drop(machineId, 'revoked')
    },
  }
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
