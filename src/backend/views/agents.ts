import { and, desc, eq, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import type { FleetRow, Conversation, Estimate } from '../../contract/fleet/agent.ts'
import type { Page, PageQuery } from '../../contract/fleet/page.ts'
import type { AgentPrompt } from '../../contract/fleet/prompt.ts'
import type { AccessLevel } from '../../contract/fleet/user.ts'
import { agents, conversations } from '../database/agent.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { equalsAny } from '../database/columns.ts'
import type { Queries } from '../database/database.ts'
import { machines } from '../database/machine.ts'
import { questions } from '../database/question.ts'
import { iterations, sprints } from '../database/sprint.ts'
import { access } from '../database/user.ts'
import { decodeCursor, olderThan, toPage } from './cursor.ts'
import { isReachable, showAgent, showConversation, showGlance, showPrompt, type Glimpse } from './show.ts'

/** The reading user: admins see everything, others what they have access to. */
export type Viewer = { readonly userId: string; readonly admin: boolean }

/** A row of the fleet, the same for every user. */
export type SharedRow = Omit<FleetRow, 'access'>

/** Only the parts of a progress that a row shows, because a progress can be large. */
const glimpse = sql<Glimpse>`jsonb_build_object(
  'goal', ${sprints.progress}->'goal', 'stats', ${sprints.progress}->'stats', 'limits', ${sprints.progress}->'limits',
  'live', ${sprints.progress}->'live', 'iterations',
  jsonb_path_query_array(${sprints.progress}, 'lax $.iterations[last - 19 to last]')) ||
  jsonb_strip_nulls(jsonb_build_object('runLimits', ${sprints.progress}->'runLimits', 'parked', ${sprints.progress}->'parked',
  'reason', ${sprints.progress}->'reason', 'doneWhen', ${sprints.progress}->'doneWhen', 'baseline', ${sprints.progress}->'baseline',
  'ralphExit', jsonb_build_object('unchecked', ${sprints.progress}->'ralphExit'->'unchecked',
  'unproven', ${sprints.progress}->'ralphExit'->'unproven')))`

const rowFields = {
  agent: agents,
  machine: machines,
  sprint: {
    id: sprints.id,
    status: sprints.status,
    diff: sprints.diff,
    branch: sprints.branch,
    updatedAt: sprints.updatedAt,
    lastEventAt: sprints.lastEventAt,
  },
  glimpse,
  question: { id: questions.id, reason: questions.reason, askedAt: questions.askedAt },
  queued: sql<number>`(select count(*)::int from agent_prompt p where p.agent_id = ${agents.id} and p.status in ('queued', 'parked'))`,
}

const selectFleetRows = (db: Queries) =>
  db
    .select(rowFields)
    .from(agents)
    .innerJoin(machines, eq(machines.id, agents.machineId))
    .leftJoin(sprints, eq(sprints.id, agents.sprintId))
    // The one that has waited longest, also if it belongs to an earlier sprint of the agent.
    .leftJoin(
      questions,
      eq(
        questions.id,
        sql`(select q.id from question q where q.agent_id = ${agents.id} and q.status = 'open' order by q.asked_at limit 1)`,
      ),
    )

type SelectedRow = Awaited<ReturnType<typeof selectFleetRows>>[number]

function toSharedRow({ agent, machine, sprint, glimpse: part, question, queued }: SelectedRow, now: number): SharedRow {
  const { id, name, lastSeenAt } = machine
  return {
    agent: showAgent(agent),
    machine: { id, name, reachable: isReachable(machine, now), ...(lastSeenAt !== null && { lastSeenAt }) },
    ...(sprint && { sprint: showGlance({ ...sprint, glimpse: part, question }) }),
    queued,
    ...(queued > 0 && agent.state === 'idle' && describeWait(machine, now)),
    ...(sprint?.lastEventAt && { lastEventAt: sprint.lastEventAt }),
  }
}

function describeWait(machine: SelectedRow['machine'], now: number): { readonly waits?: string } {
  const { name, status, slots } = machine
  if (status === 'draining') return { waits: `${name} is draining: it starts no prompts` }
  if (status === 'revoked') return { waits: `${name} was revoked` }
  if (!isReachable(machine, now)) return { waits: `${name} is unreachable` }
  return slots === 0 ? { waits: `${name} has no slots` } : {}
}

/** The agents that one user can access. */
export async function listAgents(
  db: Queries,
  viewer: Viewer,
  { cursor, limit, archived }: PageQuery & { readonly archived: boolean },
  now: number,
): Promise<Page<FleetRow>> {
  const found = await selectFleetRows(db)
    .where(
      and(
        archived ? undefined : isNull(agents.archivedAt),
        viewer.admin ? undefined : inArray(agents.id, isAccessible(db, viewer)),
        olderThan(decodeCursor(cursor), agents.createdAt, agents.id),
      ),
    )
    .orderBy(desc(agents.createdAt), desc(agents.id))
    .limit(limit + 1)
  const levels = await readLevels(db, viewer, found)
  return toPage(found, limit, {
    show: (row) => ({
      ...toSharedRow(row, now),
      access: viewer.admin ? 'owner' : (levels.get(row.agent.id) ?? 'read'),
    }),
    cursor: ({ agent }) => ({ at: agent.createdAt, id: agent.id }),
  })
}

const isAccessible = (db: Queries, { userId }: Viewer) =>
  db.select({ id: access.agentId }).from(access).where(eq(access.userId, userId))

async function readLevels(db: Queries, { userId, admin }: Viewer, found: readonly SelectedRow[]) {
  if (admin || found.length === 0) return new Map<string, AccessLevel>()
  const ids = found.map(({ agent }) => agent.id)
  const rows = await db
    .select()
    .from(access)
    .where(and(eq(access.userId, userId), inArray(access.agentId, ids)))
  return new Map(rows.map(({ agentId, level }) => [agentId, level]))
}

/** Several rows at once, for the feed. */
export async function listSharedRows(
  db: Queries,
  ids: readonly string[],
  now: number,
): Promise<Map<string, SharedRow>> {
  if (ids.length === 0) return new Map()
  const found = await selectFleetRows(db).where(equalsAny(agents.id, ids))
  return new Map(found.map((row) => [row.agent.id, toSharedRow(row, now)]))
}

/** Running prompts first, then the queue in order, then ended ones, newest first. */
export async function listPrompts(
  db: Queries,
  agentId: string,
  { cursor, limit }: PageQuery,
): Promise<Page<AgentPrompt>> {
  const after = decodeCursor(cursor)
  const ended = await db
    .select()
    .from(agentPrompts)
    .where(
      and(
        eq(agentPrompts.agentId, agentId),
        inArray(agentPrompts.status, ['finished', 'failed', 'cancelled']),
        olderThan(after, agentPrompts.createdAt, agentPrompts.id),
      ),
    )
    .orderBy(desc(agentPrompts.createdAt), desc(agentPrompts.id))
    .limit(limit + 1)
  const page = toPage(ended, limit, { show: showPrompt, cursor: ({ createdAt, id }) => ({ at: createdAt, id }) })
  if (after) return page
  const waiting = await db
    .select()
    .from(agentPrompts)
    .where(and(eq(agentPrompts.agentId, agentId), inArray(agentPrompts.status, ['running', 'queued', 'parked'])))
    .orderBy(sql`${agentPrompts.status} <> 'running'`, agentPrompts.position)
  return { ...page, items: [...waiting.map(showPrompt), ...page.items] }
}

export async function listConversations(
  db: Queries,
  agentId: string,
  { cursor, limit }: PageQuery,
): Promise<Page<Conversation>> {
  const after = decodeCursor(cursor)
  const rows = await db
    .select()
    .from(conversations)
    .where(
      and(
        eq(conversations.agentId, agentId),
        isNotNull(conversations.endedAt),
        after && lt(conversations.startedAt, after.at),
      ),
    )
    .orderBy(desc(conversations.startedAt))
    .limit(limit + 1)
  return toPage(rows, limit, { show: showConversation, cursor: ({ startedAt, id }) => ({ at: startedAt, id }) })
}

/** Recent duration and cost of this agent's iterations. */
export async function readEstimate(db: Queries, agentId: string): Promise<Estimate> {
  const lately = db
    .select({ durationMs: iterations.durationMs, costUsd: iterations.costUsd })
    .from(iterations)
    .where(eq(iterations.agentId, agentId))
    .orderBy(desc(iterations.endedAt))
    .limit(100)
    .as('lately')
  const [found] = await db
    .select({
      count: sql<number>`count(*)::int`,
      ms: sql<number | null>`percentile_cont(0.5) within group (order by ${lately.durationMs})`,
      usd: sql<number | null>`percentile_cont(0.5) within group (order by ${lately.costUsd})`,
    })
    .from(lately)
  return {
    iterations: found?.count ?? 0,
    ...(typeof found?.ms === 'number' && { medianMs: found.ms }),
    ...(typeof found?.usd === 'number' && { medianUsd: found.usd }),
  }
}
