import { join } from 'node:path'
import { and, eq, isNull } from 'drizzle-orm'
import { RalphError } from '../../../contract/errors.ts'
import type { UserRole } from '../../../contract/fleet/user.ts'
import type { Deployment, StartedDemo } from '../../../contract/fleet/operation-routes.ts'
import { createPrivateFolder, diskSpace } from '../../../platform/files/files.ts'
import type { Database } from '../../database/database.ts'
import { explainOutage } from '../../database/database-unavailable.ts'
import { readMigrations } from '../../database/migrate.ts'
import { probeWrite } from '../../database/outage.ts'
import { machineSilentMs } from '../../database/machine.ts'
import { users } from '../../database/user.ts'
import { countOldHistory, defaultHistoryMs } from '../../feed/history-retention.ts'
import type { RouteHandlers } from '../calls/call.ts'
import { toUser } from '../identity.ts'

export type OperationDeps = {
  readonly database: Database
  /** The folder of the embedded database. */
  readonly dataFolder: string | undefined
  readonly migrations: string
  readonly version: string
  readonly now: () => number
  readonly newId: () => string
  /** Absent: there is no machine on the computer of the backend. */
  readonly startDemo: (() => Promise<StartedDemo>) | undefined
  readonly inviteAddress: (userId: string) => Promise<{ readonly address: string; readonly expiresAt: number }>
}

/** What operators ask a running backend for. */
export const operationHandlers = (
  deps: OperationDeps,
): Pick<RouteHandlers, 'readDeployment' | 'countOldHistory' | 'makeDatabaseCopy' | 'inviteUser' | 'startDemo'> => ({
  readDeployment: () => readDeployment(deps),
  countOldHistory: async ({ query: { keepMs = defaultHistoryMs } }) => ({
    keepMs,
    ...(await countOldHistory(deps.database, deps.now() - keepMs)),
  }),
  inviteUser: ({ body }) => inviteUser(deps, body),
  startDemo: async () => {
    if (deps.startDemo) return deps.startDemo()
    throw new RalphError('NOT_SUPPORTED', 'this backend runs no agents on its own computer', {
      hint: 'run `ralph demo` in a terminal',
    })
  },
  makeDatabaseCopy: async () => {
    const { database, dataFolder, newId } = deps
    if (!database.copyTo || dataFolder === undefined) {
      throw new RalphError('NOT_SUPPORTED', 'only the embedded database is copied; for a server, set DATABASE_URL', {
        hint: 'DATABASE_URL=… ralph backup',
      })
    }
    const folder = join(dataFolder, 'copies', newId())
    await createPrivateFolder(folder)
    await database.copyTo(join(folder, 'database'))
    return { folder }
  },
})

/** Users of invitations have no subject at an identity provider, and so no way in but such an address. */
async function inviteUser(
  { database: { db }, now, newId, inviteAddress }: OperationDeps,
  { name, role }: { readonly name: string; readonly role?: UserRole | undefined },
) {
  const [known] = await db
    .select()
    .from(users)
    .where(and(eq(users.name, name), isNull(users.subject)))
  if (known?.disabledAt) throw new RalphError('FORBIDDEN', `the account of ${name} is disabled`)
  if (known && role !== undefined && role !== known.role) {
    throw new RalphError('FORBIDDEN', `${name} is ${known.role} already`, {
      hint: 'change the role on the page, under Users',
    })
  }
  const created = { id: newId(), name, role: role ?? ('member' as const), createdAt: now() }
  const user = known ?? (await db.insert(users).values(created).returning())[0]
  if (!user) throw new RalphError('INTERNAL', 'the user was not created')
  return { user: toUser(user), ...(await inviteAddress(user.id)) }
}

type StateRow = {
  readonly server: string
  readonly size: string
  readonly read_only: string
  readonly now_ms: number
  readonly applied: number
  readonly last: string
  readonly replicas: number
  readonly waiting: number
  readonly oldest_due: number
  readonly connected: number
  readonly offline: number
  readonly pending: number
  readonly queued: number
  readonly running: number
  readonly oldest_queued: number
}

const selectState = `
  select current_setting('server_version') as server, pg_database_size(current_database())::text as size,
    current_setting('transaction_read_only') as read_only, (extract(epoch from clock_timestamp()) * 1000)::float as now_ms,
    (select count(*)::int from migration) as applied,
    (select name from migration order by number desc limit 1) as last,
    (select count(*)::int from executor where last_seen > now() - interval '20 seconds') as replicas,
    (select count(*)::int from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')) as waiting,
    (select coalesce(max(extract(epoch from now()) - created_at / 1000.0), 0)::float from dbos.workflow_status
      where status = 'ENQUEUED') as oldest_due,
    (select count(*)::int from machine where status <> 'revoked' and status <> 'pending'
      and connected_to is not null and last_seen_at > now() - make_interval(secs => $1)) as connected,
    (select count(*)::int from machine where status <> 'revoked' and status <> 'pending'
      and (connected_to is null or last_seen_at is null or last_seen_at <= now() - make_interval(secs => $1))) as offline,
    (select count(*)::int from machine where status = 'pending') as pending,
    (select count(*)::int from agent_prompt where status = 'queued') as queued,
    (select count(*)::int from agent_prompt where status = 'running') as running,
    (select coalesce(max(extract(epoch from now() - greatest(created_at, not_before))), 0)::float from agent_prompt
      where status = 'queued') as oldest_queued`

async function readDeployment({ database, dataFolder, migrations, version, now }: OperationDeps): Promise<Deployment> {
  const began = performance.now()
  await database.db.execute('select 1')
  const latencyMs = performance.now() - began
  const { rows } = await database.pool.query<StateRow>(selectState, [machineSilentMs / 1000])
  const row = rows[0]
  if (!row) throw new RalphError('DATABASE_UNAVAILABLE', 'the database answers nothing')
  const known = await readMigrations(migrations)
  const writeProblem = await probeWrite(database).then(() => undefined, explainOutage)
  return {
    version,
    now: now(),
    database: {
      kind: database.kind,
      serverVersion: row.server,
      sizeBytes: Number(row.size),
      latencyMs,
      readOnly: row.read_only === 'on',
      ...(writeProblem && { writeProblem: { text: writeProblem.message, hint: writeProblem.hint } }),
      clockSkewMs: Math.round(row.now_ms - now()),
      migrations: { applied: row.applied, known: known.length, last: row.last },
      ...(dataFolder !== undefined && { diskFreeBytes: (await diskSpace(dataFolder)).freeBytes }),
    },
    engine: {
      replicas: database.kind === 'embedded' ? 1 : row.replicas,
      waiting: row.waiting,
      oldestDueSeconds: row.oldest_due,
    },
    machines: { connected: row.connected, offline: row.offline, pending: row.pending },
    prompts: { queued: row.queued, running: row.running, oldestQueuedSeconds: Math.max(0, row.oldest_queued) },
  }
}
