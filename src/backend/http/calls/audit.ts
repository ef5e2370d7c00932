import { and, eq } from 'drizzle-orm'
import { access, apiTokens, users } from '../../database/user.ts'
import { agents } from '../../database/agent.ts'
import { audit } from '../../database/audit.ts'
import type { Database, Queries } from '../../database/database.ts'
import { machineGrants } from '../../database/machine-grant.ts'
import { machines } from '../../database/machine.ts'
import { sprints } from '../../database/sprint.ts'
import { webhooks } from '../../database/webhook.ts'
import type { ApiCaller } from './call.ts'

type PathIds = Readonly<Record<string, string>>
type Fields = Readonly<Record<string, unknown>>

/** What a call changes: the kind of object, its ID, its name, and the fields that the log may show. */
export type AuditedObject = {
  readonly object: string
  readonly target: string
  readonly name: string | undefined
  readonly fields: Fields | undefined
}

export type AuditEvent = {
  readonly who: string
  readonly userId?: string | undefined
  readonly what: string
  readonly target?: string | undefined
  readonly details?: Fields
}

/** Who did what. Rows are only added. */
export interface AuditLog {
  /** Reads the object that a call is about, before the call changes it. */
  readonly observe: (ids: PathIds) => Promise<AuditedObject | undefined>
  /** Adds a row for a call, with the fields that differ from `before`. */
  readonly recordCall: (call: AuditedCall) => Promise<void>
  /** Adds a row for what is not a call of a user: sign-ins, refused sign-ins, joins. */
  readonly recordEvent: (event: AuditEvent) => Promise<void>
  /** Adds a row unless this address was refused in the last minute, so that a flood fills no disk. */
  readonly recordRefusal: (address: string, event: AuditEvent) => Promise<void>
}

type AuditedCall = {
  readonly who: ApiCaller
  readonly what: string
  readonly ids: PathIds
  readonly before: AuditedObject | undefined
  /** The response, which names the object that the call created. */
  readonly response: unknown
}

const refusalIntervalMs = 60_000

export function createAuditLog({ db }: Database, now: () => number): AuditLog {
  const refusedAt = new Map<string, number>()
  const recordEvent: AuditLog['recordEvent'] = async ({ who, userId = null, what, target = null, details = null }) => {
    await db.insert(audit).values({ at: now(), who, userId, what, target, details })
  }
  return {
    recordEvent,
    observe: (ids) => readObject(db, ids),
    recordCall: async ({ who: { user, by }, what, ids, before, response }) => {
      const after = await readObject(db, ids)
      const changed = diffFields(before?.fields, after?.fields)
      const object = after ?? before
      // The name before: a call may rename or delete the object.
      const name = before?.name ?? after?.name ?? findCreated(response, 'name')
      const details = { ...ids, by, ...(object && { object: object.object }), ...(name && { name }), ...changed }
      await recordEvent({
        who: user.name,
        userId: user.id,
        what,
        target: object?.target ?? findCreated(response, 'id'),
        details,
      })
    },
    recordRefusal: async (address, event) => {
      for (const [known, at] of refusedAt) if (now() - at >= refusalIntervalMs) refusedAt.delete(known)
      if (refusedAt.has(address)) return
      refusedAt.set(address, now())
      await recordEvent({ ...event, details: { ...event.details, address } })
    },
  }
}

function diffFields(before: Fields = {}, after: Fields = {}): { readonly before?: Fields; readonly after?: Fields } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const differing = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  if (differing.length === 0) return {}
  const pick = (from: Fields) =>
    Object.fromEntries(differing.flatMap((name) => (name in from ? [[name, from[name]]] : [])))
  return { before: pick(before), after: pick(after) }
}

function findCreated(response: unknown, field: 'id' | 'name'): string | undefined {
  if (typeof response !== 'object' || response === null) return undefined
  const found = new Map(Object.entries(response))
  const [value, inner] = [found.get(field), found.get('details') ?? found.get('user')]
  return typeof value === 'string' ? value : findCreated(inner, field)
}

/** The most specific object that the IDs name. Secrets, hashes and long texts are left out. */
async function readObject(db: Queries, ids: PathIds): Promise<AuditedObject | undefined> {
  const { agentId, machineId, userId } = ids
  if (agentId !== undefined && userId !== undefined) return readAccess(db, agentId, userId)
  if (machineId !== undefined && userId !== undefined) return readGrant(db, machineId, userId)
  for (const [name, { object, read }] of Object.entries(readers)) {
    const target = ids[name]
    if (target !== undefined) return { object, target, ...splitName(await read(db, target)) }
  }
  return undefined
}

const splitName = ({ objectName, ...fields }: NamedFields = {}): Pick<AuditedObject, 'name' | 'fields'> => ({
  name: objectName,
  fields,
})

async function readAccess(db: Queries, agentId: string, userId: string): Promise<AuditedObject> {
  const theirs = and(eq(access.agentId, agentId), eq(access.userId, userId))
  const [fields] = await db.select({ level: access.level }).from(access).where(theirs)
  return { object: 'access', target: agentId, name: await readUserName(db, userId), fields }
}

async function readGrant(db: Queries, machineId: string, userId: string): Promise<AuditedObject> {
  const theirs = and(eq(machineGrants.machineId, machineId), eq(machineGrants.userId, userId))
  const { level, roots } = machineGrants
  const [fields] = await db.select({ level, roots }).from(machineGrants).where(theirs)
  return { object: 'machine grant', target: machineId, name: await readUserName(db, userId), fields }
}

const readUserName = async (db: Queries, userId: string): Promise<string | undefined> =>
  (await db.select({ name: users.name }).from(users).where(eq(users.id, userId)))[0]?.name

type NamedFields = Fields & { readonly objectName?: string }
type ObjectReader = {
  readonly object: string
  readonly read: (db: Queries, id: string) => Promise<NamedFields | undefined>
}

const readers: Readonly<Record<string, ObjectReader>> = {
  webhookId: {
    object: 'webhook',
    read: async (db, id) => {
      const { url, events, enabled } = webhooks
      const [row] = await db.select({ url, events, enabled }).from(webhooks).where(eq(webhooks.id, id))
      // Paths of chat webhooks are secrets.
      return row && { objectName: new URL(row.url).host, ...row }
    },
  },
  tokenId: {
    object: 'token',
    read: async (db, id) => {
      const { name, scope, revokedAt } = apiTokens
      return (
        await db.select({ objectName: name, name, scope, revokedAt }).from(apiTokens).where(eq(apiTokens.id, id))
      )[0]
    },
  },
  userId: {
    object: 'user',
    read: async (db, id) => {
      const { name: objectName, role, disabledAt } = users
      return (await db.select({ objectName, role, disabledAt }).from(users).where(eq(users.id, id)))[0]
    },
  },
  machineId: {
    object: 'machine',
    read: async (db, id) => {
      const { name, status, labels, slots } = machines
      return (
        await db.select({ objectName: name, name, status, labels, slots }).from(machines).where(eq(machines.id, id))
      )[0]
    },
  },
  sprintId: {
    object: 'sprint',
    read: async (db, id) => {
      const fields = { objectName: agents.name, status: sprints.status }
      const ofAgent = eq(agents.id, sprints.agentId)
      return (await db.select(fields).from(sprints).innerJoin(agents, ofAgent).where(eq(sprints.id, id)))[0]
    },
  },
  agentId: {
    object: 'agent',
    read: async (db, id) => {
      const { name, program, model, state, inRalphMode } = agents
      const fields = { objectName: name, name, program, model, state, inRalphMode }
      return (await db.select(fields).from(agents).where(eq(agents.id, id)))[0]
    },
  },
}
