import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { makeAuthority, openAuthority, type Authority } from '../channel/authority.ts'
import { transportPair, type Transport } from '../channel/transport.ts'
import { postWebhook } from '../platform/net/webhook.ts'
import { newUuid } from '../platform/uuid.ts'
import { audit } from './database/audit.ts'
import type { Database } from './database/database.ts'
import { authorities, machines as machineRows } from './database/machine.ts'
import { openDatabase, type DatabasePlace } from './database/open-database.ts'
import { announce } from './fleet/announce.ts'
import { outbox, outboxTopic } from './fleet/machines.ts'
import { openFleet, type OpenFleet } from './fleet/open-fleet.ts'
import type { Fleet, Observed } from './fleet/ports.ts'
import { createApp } from './http/app.ts'
import type { Who } from './http/call.ts'
import { createEvents, type EventTimes } from './http/events.ts'
import { createFeed } from './http/feed.ts'
import { addressesOf, loopbackAddresses, type Addresses } from './http/guard.ts'
import { agentHandlers } from './http/handlers/agents.ts'
import { machineHandlers, type MachineDoor } from './http/handlers/machines.ts'
import { peopleHandlers } from './http/handlers/people.ts'
import { sprintHandlers } from './http/handlers/sprints.ts'
import { localUser, people, type People } from './http/identity.ts'
import { listen, type ListenOptions } from './http/listen.ts'
import { metricsText } from './http/metrics.ts'
import type { oidcRoutes as OidcRoutes, OidcSettings } from './http/oidc.ts'
import { once } from './http/once.ts'
import { pace } from './http/pace.ts'
import { pageFiles } from './http/page-files.ts'
import { levelOn, levelsOf } from './http/reach.ts'
import { makeJoinToken, type AdmissionParts } from './machines/admission.ts'
import { askMachines, type Asking } from './machines/ask.ts'
import type { Log } from './machines/connection.ts'
import { databaseStore } from './machines/database-store.ts'
import { listenForMachines } from './machines/listener.ts'
import { openMachines, type Machines } from './machines/machines.ts'
import { machineHandlers as takeFromMachines } from './machines/take.ts'
import { createNotifications, type Sender } from './notifications/notifications.ts'

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
  /** The address users open, if it differs from the address to listen on. */
  readonly publicOrigin?: string | undefined
  /** Where machines connect; absent: only the local machine. */
  readonly machines?: { readonly host: string; readonly port: number; readonly publicHost?: string } | undefined
  readonly project?: string | undefined
  readonly compiling: Fleet['compiling']
  /** Sprints of this computer that `ralph run` controls; absent: none are observed. */
  readonly observed?: Observed | undefined
  readonly settings?: Partial<Fleet['settings']>
  readonly eventTimes?: Partial<EventTimes>
  readonly log: Log
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
  const opened: Close[] = []
  try {
    return await openAll(options, opened)
  } catch (error) {
    await closeAll(opened)
    throw error
  }
}

type Close = () => Promise<void>

/** Closes in reverse order. */
async function closeAll(opened: readonly Close[]): Promise<void> {
  for (const close of opened.toReversed()) await close()
}

async function openAll(options: BackendOptions, opened: Close[]): Promise<Backend> {
  let isOver = false
  // Errors after the database is closed are expected.
  const trouble = (error: unknown, doing = 'request') =>
    isOver ||
    options.log('warn', error instanceof Error ? error.message : String(error), { doing, stack: stackOf(error) })
  const onTrouble = (error: Error) => trouble(error, 'database')
  const database = await openDatabase(options.place, { migrations: options.migrations, onTrouble })
  opened.push(() => {
    isOver = true
    return database.close()
  })
  const sender = createNotifications({ database, now, newId: newUuid, post: send, log: trouble })
  opened.push(sender.close)
  const authority = await authorityOf(database)
  const line = await openLines(options, { database, sender, authority, trouble })
  opened.push(line.close)
  const persons = people(database, now)
  const userId = await localUser(database, options.userName, now())
  const http = await serve(options, { database, sender, persons, line, trouble })
  opened.push(http.close)
  return {
    database,
    fleet: line.fleet,
    origin: http.origin,
    machinePort: line.port,
    ticketAddress: () => http.ticketAddress(userId),
    commandToken: () => persons.commandToken(userId, newUuid()),
    localMachine: async (name) => {
      const machineId = await localMachine(database, name)
      const connect = async () => {
        const [ours, theirs] = transportPair(randomBytes(32))
        void line.lines.attach(ours, machineId).catch(trouble)
        return theirs
      }
      return { machineId, connect }
    },
    joinCommand: async (name) => (await line.door.token({ name, createdBy: userId })).command,
    close: () => closeAll(opened),
  }
}

const stackOf = (error: unknown): string | undefined => (error instanceof Error ? error.stack : undefined)

const send = (url: string, body: string, secret: string): Promise<void> => postWebhook(url, body, { secret })

type Base = {
  readonly database: Database
  readonly sender: Sender
  readonly trouble: (error: unknown, doing?: string) => void
}

type OpenLines = {
  readonly fleet: OpenFleet
  readonly lines: Machines
  readonly door: MachineDoor
  readonly port: number | undefined
  readonly close: () => Promise<void>
}

/** Opens the fleet and the lines to its machines, which need each other. */
async function openLines(options: BackendOptions, base: Base & { readonly authority: Authority }): Promise<OpenLines> {
  const { database, sender, authority, trouble } = base
  const { log, version } = options
  const known: { fleet?: OpenFleet; asking?: Asking } = {}
  const fleet = () => present(known.fleet)
  const store = databaseStore(database, {
    now,
    newId: newUuid,
    holder: () => fleet().engine.executorId,
    changed: async (machineId) => {
      await database.transaction(async (tx) => announce(fleet(), tx, { kind: 'machine', machineId }))
    },
  })
  const epochOf = async (machineId: string) => {
    const [row] = await database.db.select().from(machineRows).where(eq(machineRows.id, machineId))
    return row?.epoch ?? 0
  }
  const handlers = takeFromMachines({ fleet, asking: () => present(known.asking), epochOf, log: trouble })
  const lines = openMachines({ store, handlers, authority, version, now, log })
  const asking = askMachines({
    database,
    outbox: outbox({ database, clock: { now } }),
    lines,
    now,
    newId: newUuid,
    log: trouble,
  })
  known.asking = asking
  const { compiling, settings = {}, observed, onLost } = options
  const parts = { database, machines: asking, notifications: sender, clock: { now }, newId: newUuid }
  known.fleet = await openFleet({ ...parts, compiling, observed, settings, trouble, onLost })
  const quiet = database.signals.on(outboxTopic, (machineId) => lines.wake(machineId))
  const admission = { store, authority, now, log }
  const listener = options.machines && (await listenForMachines({ ...admission, ...options.machines, machines: lines }))
  return {
    fleet: known.fleet,
    lines,
    port: listener?.port,
    door: doorOf(admission, lines, addressFor(options, listener?.port)),
    close: async () => {
      quiet()
      await listener?.close()
      lines.close()
      asking.close()
      await fleet().close()
    },
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('used before it was opened')
  return value
}

const addressFor = ({ machines }: BackendOptions, port: number | undefined): string | undefined =>
  machines && port !== undefined ? `${machines.publicHost ?? machines.host}:${port}` : undefined

function doorOf(admission: AdmissionParts, lines: Machines, address: string | undefined): MachineDoor {
  return {
    token: async (wanted) => {
      const made = await makeJoinToken(wanted, admission)
      return { ...made, command: `ralph agents-server join ${made.token} --backend ${address ?? '<host>:<port>'}` }
    },
    revoke: async (machineId) => {
      await admission.store.setStatus(machineId, 'revoked')
      lines.drop(machineId, 'revoked')
    },
  }
}

type Served = {
  readonly origin: string
  readonly ticketAddress: (userId: string) => Promise<string>
  readonly close: () => Promise<void>
}

async function serve(
  options: BackendOptions,
  parts: Base & { readonly persons: People; readonly line: OpenLines },
): Promise<Served> {
  const { database, sender, persons, line, trouble } = parts
  const { version, project, oidc, host, port, tls, publicOrigin } = options
  const { fleet, lines } = line
  const feed = createFeed(database, { now, log: trouble })
  const levels = (who: Who) => levelsOf(database, who)
  const events = createEvents({ feed, levels, log: trouble, times: options.eventTimes })
  const own: { addresses?: Addresses; origin?: string } = {}
  const ticketAddress = async (userId: string) => `${own.origin}/sign-in#${await persons.ticketFor(userId)}`
  const app = createApp({
    version,
    secure: tls !== undefined || publicOrigin?.startsWith('https:') === true,
    addresses: () => own.addresses ?? { hosts: new Set(), origins: new Set() },
    identity: persons,
    handlers: {
      ...peopleHandlers({ database, sender, now, newId: newUuid, version, project, ticketAddress }),
      ...agentHandlers(fleet),
      ...sprintHandlers(fleet),
      ...machineHandlers(fleet, line.door, version),
    },
    levelOn: (who, ids) => levelOn(database, who, ids),
    events,
    once: once(database, now),
    pace: pace(now),
    audit: (who, what, ids) => writeAudit(database, who, what, ids),
    ready: () => answers(database),
    metrics: async () => {
      const { connected, refusedFrames } = lines.counts()
      return metricsText(database, { viewers: events.viewers(), machines: connected, refusedFrames })
    },
    page: pageFiles(options.page),
    addRoutes: oidc && (await signingIn(oidc, { people: persons, database, now, newId: newUuid })),
    log: trouble,
  })
  const listening = await listen(app, { host, port, tls, authenticates: oidc !== undefined }).catch(
    (error: unknown) => {
      events.close()
      feed.close()
      throw error
    },
  )
  own.addresses = publicOrigin === undefined ? loopbackAddresses(listening.port) : addressesOf(publicOrigin)
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

/** Loads the OIDC client only for backends with accounts. */
const signingIn = async (...given: Parameters<typeof OidcRoutes>) =>
  (await import('./http/oidc.ts')).oidcRoutes(...given)

const readyMs = 2000

/** Whether the database answers within `readyMs`. */
async function answers({ pool }: Database): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), readyMs).unref())
  const answered = pool.query('select 1').then(
    ({ rowCount }) => rowCount === 1,
    () => false,
  )
  return Promise.race([answered, late])
}

async function writeAudit({ db }: Database, { user }: Who, what: string, ids: Readonly<Record<string, string>>) {
  const [target = null] = Object.values(ids)
  await db.insert(audit).values({ at: now(), who: user.name, userId: user.id, what, target, details: ids })
}

/** The authority that machines trust; created at the first start and shared by all replicas. */
async function authorityOf({ db }: Database): Promise<Authority> {
  const [kept] = await db.select().from(authorities)
  if (kept) return openAuthority(kept)
  await db
    .insert(authorities)
    .values(await makeAuthority(now()))
    .onConflictDoNothing()
  const [made] = await db.select().from(authorities)
  return openAuthority(present(made))
}

/** The machine that this backend runs on. */
async function localMachine({ db }: Database, name: string): Promise<string> {
  const [known] = await db.select().from(machineRows).where(eq(machineRows.local, true))
  if (known) return known.id
  const id = newUuid()
  await db.insert(machineRows).values({ id, name, status: 'active', local: true, createdAt: now() })
  return id
}
