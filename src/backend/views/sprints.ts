import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  ilike,
  inArray,
  isNotNull,
  lt,
  ne,
  notInArray,
  or,
  sql,
  type SQL,
} from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { RalphError } from '../../contract/errors.ts'
import { editTools } from '../../contract/tool-names.ts'
import type { StoredEvent } from '../../contract/fleet/event.ts'
import type { Page, PageQuery } from '../../contract/fleet/page.ts'
import type { SprintQuestion, QuestionStatus } from '../../contract/fleet/question.ts'
import type { SprintIteration, SprintOutline, FleetSprint, UsageRow } from '../../contract/fleet/sprint.ts'
import { agents } from '../database/agent.ts'
import type { Queries } from '../database/database.ts'
import { events } from '../database/event.ts'
import { questions } from '../database/question.ts'
import { iterations, sprints } from '../database/sprint.ts'
import { usage } from '../database/usage.ts'
import { access } from '../database/user.ts'
import type { Viewer } from './agents.ts'
import { decodeCursor, olderThan, toPage } from './cursor.ts'
import { showEvent, showQuestion, showSprint } from './show.ts'

const isVisible = (db: Queries, { admin, userId }: Viewer, agentId: AnyPgColumn): SQL | undefined =>
  admin ? undefined : inArray(agentId, db.select({ id: access.agentId }).from(access).where(eq(access.userId, userId)))

export async function listSprintPage(
  db: Queries,
  viewer: Viewer,
  { cursor, limit, agentId }: PageQuery & { readonly agentId?: string | undefined },
): Promise<Page<FleetSprint>> {
  const after = decodeCursor(cursor)
  const rows = await db
    .select()
    .from(sprints)
    .where(
      and(
        isVisible(db, viewer, sprints.agentId),
        agentId === undefined ? undefined : eq(sprints.agentId, agentId),
        olderThan(after, sprints.createdAt, sprints.id),
      ),
    )
    .orderBy(desc(sprints.createdAt), desc(sprints.id))
    .limit(limit + 1)
  return toPage(rows, limit, { show: showSprint, cursor: ({ createdAt, id }) => ({ at: createdAt, id }) })
}

export async function getSprint(db: Queries, sprintId: string): Promise<FleetSprint> {
  const [row] = await db.select().from(sprints).where(eq(sprints.id, sprintId))
  if (!row) throw new RalphError('NOT_FOUND', 'not found, or you have no access')
  return showSprint(row)
}

export async function listIterations(
  db: Queries,
  sprintId: string,
  { cursor, limit }: PageQuery,
): Promise<Page<SprintIteration>> {
  const after = decodeCursor(cursor)
  const rows = await db
    .select()
    .from(iterations)
    .where(and(eq(iterations.sprintId, sprintId), after && lt(iterations.number, after.at)))
    .orderBy(desc(iterations.number))
    .limit(limit + 1)
  return toPage(rows, limit, { show: ({ record }) => record, cursor: ({ number }) => ({ at: number, id: 'n' }) })
}

export type EventPageQuery = PageQuery & {
  readonly iteration?: number | undefined
  readonly search?: string | undefined
  readonly kind?: 'text' | 'tool' | 'other' | 'error' | 'edit' | undefined
  /** Sequence numbers; `after` turns the order around. */
  readonly before?: number | undefined
  readonly after?: number | undefined
}

/** Selects the events of a sprint, or of a prompt without a sprint. */
export type EventScope = { readonly sprintId: string } | { readonly agentId: string; readonly promptId: string }

const isInScope = (of: EventScope): SQL | undefined =>
  'sprintId' in of
    ? eq(events.sprintId, of.sprintId)
    : and(eq(events.promptId, of.promptId), eq(events.agentId, of.agentId))

/** Events, newest first; with `after`, oldest first. */
export async function listEvents(
  db: Queries,
  of: EventScope,
  { cursor, limit, iteration, search, kind, before, after }: EventPageQuery,
): Promise<Page<StoredEvent>> {
  const older = decodeCursor(cursor)
  const rows = await db
    .select()
    .from(events)
    .where(
      and(
        isInScope(of),
        eq(events.kind, 'event'),
        isNotNull(events.payload),
        older && lt(events.seq, older.at),
        before === undefined ? undefined : lt(events.seq, before),
        after === undefined ? undefined : gt(events.seq, after),
        iteration === undefined ? undefined : eq(events.iteration, iteration),
        search === undefined
          ? undefined
          : ilike(sql`${events.payload}::text`, `%${search.replace(/[\\%_]/g, '\\$&')}%`),
        hasKind(kind),
      ),
    )
    .orderBy(after === undefined ? desc(events.seq) : asc(events.seq))
    .limit(limit + 1)
  const withPayload = rows.flatMap((row) => (row.payload === null ? [] : [{ ...row, payload: row.payload }]))
  return toPage(withPayload, limit, { show: showEvent, cursor: ({ seq }) => ({ at: seq ?? 0, id: 'n' }) })
}

const toolPart = (field: 'phase' | 'name' | 'ok') => sql<string>`${events.payload}->'event'->>${sql.raw(`'${field}'`)}`

const isError = or(
  and(eq(events.type, 'tool'), sql`${toolPart('phase')} = 'end' and ${toolPart('ok')} = 'false'`),
  inArray(events.type, ['attempt-failed', 'claim-refused']),
  and(eq(events.type, 'check-ended'), sql`${events.payload}->'result'->>'passed' = 'false'`),
)

const isCall = and(eq(events.type, 'tool'), sql`${toolPart('phase')} = 'start'`)
const isEdit = and(isCall, inArray(toolPart('name'), [...editTools]))

const toolName = sql<string | null>`case when ${isCall} then ${toolPart('name')} end`
const countIf = (is: SQL | undefined) => sql<number>`count(*) filter (where ${is})::int`

/** Counts the events of a sprint by iteration and tool. */
export async function readOutline(db: Queries, sprintId: string): Promise<SprintOutline> {
  const rows = await db
    .select({
      iteration: events.iteration,
      tool: toolName,
      firstSeq: sql<number>`min(${events.seq})`,
      lastSeq: sql<number>`max(${events.seq})`,
      count: countIf(sql`true`),
      errors: countIf(isError),
      edits: countIf(isEdit),
    })
    .from(events)
    .where(and(eq(events.sprintId, sprintId), eq(events.kind, 'event')))
    .groupBy(events.iteration, sql`2`)
    .orderBy(asc(events.iteration))
  const numbers = [...new Set(rows.flatMap(({ iteration }) => iteration ?? []))]
  return {
    lastSeq: Math.max(0, ...rows.map(({ lastSeq }) => lastSeq)),
    items: numbers.map((iteration) =>
      outlineIteration(
        iteration,
        rows.filter((row) => row.iteration === iteration),
      ),
    ),
  }
}

type OutlineRow = { readonly tool: string | null; readonly firstSeq: number; readonly count: number } & Record<
  'errors' | 'edits',
  number
>

const outlineIteration = (iteration: number, rows: readonly OutlineRow[]): SprintOutline['items'][number] => ({
  iteration,
  firstSeq: Math.min(...rows.map(({ firstSeq }) => firstSeq)),
  events: sumField(rows, 'count'),
  errors: sumField(rows, 'errors'),
  edits: sumField(rows, 'edits'),
  tools: rows
    .flatMap(({ tool, count }) => (tool === null ? [] : [{ name: tool, calls: count }]))
    .toSorted((a, b) => b.calls - a.calls),
})

const sumField = (rows: readonly OutlineRow[], field: 'count' | 'errors' | 'edits'): number =>
  rows.reduce((sum, row) => sum + row[field], 0)

function hasKind(kind: EventPageQuery['kind']): SQL | undefined {
  if (kind === undefined) return undefined
  if (kind === 'error') return isError
  if (kind === 'edit') return isEdit
  return kind === 'other' ? notInArray(events.type, ['text', 'tool']) : eq(events.type, kind)
}

const aboutQuestion = { row: questions, agentName: agents.name, goal: sql<string>`${sprints.progress}->>'goal'` }

const selectQuestions = (db: Queries) =>
  db
    .select(aboutQuestion)
    .from(questions)
    .innerJoin(agents, eq(agents.id, questions.agentId))
    .innerJoin(sprints, eq(sprints.id, questions.sprintId))

/** The cursor of an open question begins with this: settled ones follow the last open one. */
const openPrefix = 'open:'

export async function listQuestions(
  db: Queries,
  viewer: Viewer,
  { cursor, limit, status }: PageQuery & { readonly status?: QuestionStatus | undefined },
): Promise<Page<SprintQuestion>> {
  const position = decodeCursor(cursor)
  const inOpen = position?.id.startsWith(openPrefix) === true
  const after = position && inOpen ? { ...position, id: position.id.slice(openPrefix.length) } : position
  const select = (isListed: SQL, from: typeof after, count: number) =>
    selectQuestions(db)
      .where(and(isVisible(db, viewer, questions.agentId), isListed, olderThan(from, questions.askedAt, questions.id)))
      .orderBy(desc(questions.askedAt), desc(questions.id))
      .limit(count)
  // Two queries, because each can use the index by time, which a sort by status could not.
  const open =
    (position === undefined || inOpen) && (status === undefined || status === 'open')
      ? await select(eq(questions.status, 'open'), after, limit + 1)
      : []
  const missing = limit + 1 - open.length
  const isSettled = status === undefined ? ne(questions.status, 'open') : eq(questions.status, status)
  const settled = status === 'open' || missing <= 0 ? [] : await select(isSettled, inOpen ? undefined : after, missing)
  const rows = [...open, ...settled]
  return toPage(rows, limit, {
    show: ({ row, agentName, goal }) => showQuestion(row, { agentName, goal }),
    cursor: ({ row }) => ({ at: row.askedAt, id: row.status === 'open' ? `${openPrefix}${row.id}` : row.id }),
  })
}

export async function findQuestion(db: Queries, id: string): Promise<SprintQuestion | undefined> {
  const [found] = await selectQuestions(db).where(eq(questions.id, id))
  return found && showQuestion(found.row, { agentName: found.agentName, goal: found.goal })
}

export async function readUsage(db: Queries, viewer: Viewer, { days, today }: { days: number; today: string }) {
  const since = new Date(Date.parse(today) - (days - 1) * 86_400_000).toISOString().slice(0, 10)
  const rows = await db
    .select({ row: usage, agentName: agents.name })
    .from(usage)
    .innerJoin(agents, eq(agents.id, usage.agentId))
    .where(and(gte(usage.day, since), isVisible(db, viewer, usage.agentId)))
    .orderBy(desc(usage.day), agents.name)
  const items = rows.map(({ row: { model, ...row }, agentName }): UsageRow => ({
    ...row,
    agentName,
    ...(model !== '' && { model }),
  }))
  return { items, todayUsd: items.filter(({ day }) => day === today).reduce((sum, { costUsd }) => sum + costUsd, 0) }
}
