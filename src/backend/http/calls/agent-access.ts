import { and, eq } from 'drizzle-orm'
import type { AccessLevel } from '../../../contract/fleet/user.ts'
import type { Database, Queries } from '../../database/database.ts'
import { agents } from '../../database/agent.ts'
import { questions } from '../../database/question.ts'
import { sprints } from '../../database/sprint.ts'
import { access, users } from '../../database/user.ts'
import type { ApiCaller } from './call.ts'

type AgentPathIds = Readonly<Record<string, string>>

/** The caller's access level on the agent that the IDs in a path belong to. Admins own every agent. */
export async function readAccessLevel(
  { db }: Database,
  who: ApiCaller,
  ids: AgentPathIds,
): Promise<AccessLevel | undefined> {
  const agentId = await findAgentId(db, ids)
  if (agentId === undefined) return undefined
  if (who.user.role === 'admin') return 'owner'
  const [row] = await db
    .select({ level: access.level })
    .from(access)
    .where(and(eq(access.agentId, agentId), eq(access.userId, who.user.id)))
  return row?.level
}

/** The agent that the IDs in a path belong to. */
export async function findAgentId(
  db: Queries,
  { agentId, sprintId, questionId }: AgentPathIds,
): Promise<string | undefined> {
  if (sprintId !== undefined) {
    const [row] = await db.select({ id: sprints.agentId }).from(sprints).where(eq(sprints.id, sprintId))
    return row?.id
  }
  if (questionId !== undefined) {
    const [row] = await db.select({ id: questions.agentId }).from(questions).where(eq(questions.id, questionId))
    return row?.id
  }
  if (agentId === undefined) return undefined
  const [row] = await db.select({ id: agents.id }).from(agents).where(eq(agents.id, agentId))
  return row?.id
}

/** The user's access level on each agent; undefined if the user can no longer sign in. */
export async function readAccessLevels(
  { db }: Database,
  who: ApiCaller,
): Promise<ReadonlyMap<string, AccessLevel> | undefined> {
  const [user] = await db.select().from(users).where(eq(users.id, who.user.id))
  if (!user || user.disabledAt !== null || user.role !== who.user.role) return undefined
  const rows = await db.select().from(access).where(eq(access.userId, user.id))
  return new Map(rows.map(({ agentId, level }) => [agentId, level]))
}
