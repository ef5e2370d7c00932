import { and, eq, inArray, sql, type SQL } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import type { IterationRecord, Progress, SprintStatus } from '../../contract/progress.ts'
import { jsonValue } from '../database/columns.ts'
import { events } from '../database/event.ts'
import { questions } from '../database/question.ts'
import { checkpoints, iterations, sprints, type SprintRow } from '../database/sprint.ts'
import { recordRowChanges, appendEvents, type NewEvent } from '../feed/event-log.ts'
import { updateReadModels } from './read-models.ts'
import { assertAnswerable } from './questions.ts'
import type { Requester, Fleet } from '../fleet/fleet.ts'
import type { ObservedSprints, ObservedRequest } from '../fleet/observed.ts'
import {
  agentTransaction,
  notFoundError,
  readSprintRow,
  transaction,
  updateAgent,
  type AgentTransaction,
  type Transaction,
} from '../fleet/transaction.ts'

/** An observation of a sprint that `ralph run` controls in a terminal. */
export type SprintObservation = {
  readonly sprintId: string
  readonly progress: Progress
  /** Numbered as in the event log of the sprint. */
  readonly events: readonly Pick<NewEvent, 'seq' | 'event' | 'at'>[]
  /** The folder now contains a different sprint: discard what is stored. */
  readonly replaced?: boolean
}

/** Stores an observation in one transaction. Repeating it changes nothing. */
export const saveObservation = (fleet: Fleet, agentId: string, observation: SprintObservation): Promise<void> =>
  agentTransaction(fleet, agentId, async (t) => {
    const [row] = await t.tx.db.select().from(sprints).where(eq(sprints.id, observation.sprintId))
    const known = observation.replaced === true ? undefined : row
    const isSame = known?.rev === observation.progress.rev && known.status === observation.progress.status
    if (isSame && observation.events.length === 0) return
    if (row && !known) await deleteObservedSprint(t, row.id)
    const sprint = await upsertObservedSprint(t, known, observation)
    const newEvents = observation.events.filter(({ seq }) => seq > (known?.seq ?? 0))
    await appendEvents(t, { agentId, sprintId: sprint.id }, newEvents)
    if (isSame) return
    await writeReceipts(t, sprint, known?.progress)
    if (known) await recordTerminalAnswer(t, known, observation.progress)
    await attachSprint(t, sprint)
    await updateReadModels(t, sprint, known?.progress ?? observation.progress)
  })

async function deleteObservedSprint(t: Transaction, sprintId: string): Promise<void> {
  await t.tx.db.delete(events).where(and(eq(events.sprintId, sprintId), eq(events.kind, 'event')))
  await t.tx.db.delete(sprints).where(eq(sprints.id, sprintId))
}

async function upsertObservedSprint(
  t: AgentTransaction,
  known: SprintRow | undefined,
  observation: SprintObservation,
): Promise<SprintRow> {
  const { progress, sprintId: id } = observation
  const { rev, status, stats, worktree } = progress
  const at = t.fleet.clock.now()
  const lastEventAt = observation.events.at(-1)?.at ?? known?.lastEventAt ?? stats.updatedAt ?? null
  const seq = Math.max(known?.seq ?? 0, observation.events.at(-1)?.seq ?? 0)
  const updatedAt = stats.updatedAt ?? at
  const fields = { progress, rev, status, seq, lastEventAt, updatedAt, branch: worktree?.branch ?? null }
  const createdAt = stats.startedAt ?? updatedAt
  const own = {
    id,
    agentId: t.agent.id,
    protocol: 'report',
    observed: true,
    startedBy: 'ralph run',
    createdAt,
  } as const
  const [row] = known
    ? await t.tx.db.update(sprints).set(fields).where(eq(sprints.id, id)).returning()
    : await t.tx.db
        .insert(sprints)
        .values({ ...own, ...fields })
        .returning()
  if (!row) throw new RalphError('INTERNAL', 'the sprint was not inserted')
  return row
}

async function writeReceipts(t: AgentTransaction, { id: sprintId, progress }: SprintRow, before?: Progress) {
  const known = new Set(before?.iterations.map(({ number }) => number))
  const ended = progress.iterations.filter(({ number }) => !known.has(number))
  if (ended.length === 0) return
  const receipts = ended.map((record) => ({
    sprintId,
    agentId: t.agent.id,
    number: record.number,
    verdict: record.verdict,
    record,
    durationMs: record.endedAt - record.startedAt,
    costUsd: record.costUsd,
    endedAt: record.endedAt,
  }))
  const written = await t.tx.db.insert(iterations).values(receipts).onConflictDoNothing().returning()
  await addObservedUsage(
    t,
    written.map(({ record }) => record),
  )
  const kept = ended.flatMap(({ number: iteration, checkpoint: commit, endedAt: at }) =>
    commit === undefined ? [] : [{ sprintId, iteration, commit, at }],
  )
  if (kept.length > 0) await t.tx.db.insert(checkpoints).values(kept).onConflictDoNothing()
}

/** Adds the usage of iterations to the day on which they ended. */
async function addObservedUsage(t: AgentTransaction, ended: readonly IterationRecord[]): Promise<void> {
  const { id, model: own } = t.agent
  const rows = ended.map(({ endedAt, model = own ?? '', costUsd, usage }) => ({
    ...usage,
    day: new Date(endedAt).toISOString().slice(0, 10),
    model,
    cost: costUsd ?? 0,
    unpriced: costUsd === null ? 1 : 0,
  }))
  await t.tx.db.execute(sql`
    insert into usage as used (day, agent_id, model, cost_usd, unpriced, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, iterations)
    select day, ${id}, model, sum(cost), sum(unpriced), sum("inputTokens"), sum("outputTokens"), sum("cacheReadTokens"),
      sum("cacheWriteTokens"), count(*)
    from jsonb_to_recordset(${jsonValue(rows)}) as row (day date, model text, cost double precision, unpriced int,
      "inputTokens" bigint, "outputTokens" bigint, "cacheReadTokens" bigint, "cacheWriteTokens" bigint)
    group by day, model
    on conflict (day, agent_id, model) do update set
      cost_usd = used.cost_usd + excluded.cost_usd, unpriced = used.unpriced + excluded.unpriced,
      input_tokens = used.input_tokens + excluded.input_tokens, output_tokens = used.output_tokens + excluded.output_tokens,
      cache_read_tokens = used.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = used.cache_write_tokens + excluded.cache_write_tokens,
      iterations = used.iterations + excluded.iterations`)
}

/** A question that a user answered in the terminal. */
async function recordTerminalAnswer(
  t: Transaction,
  known: SprintRow,
  { answer, humanNeeded }: Progress,
): Promise<void> {
  const question = known.progress.humanNeeded
  if (!question || humanNeeded || !answer || answer.at < question.askedAt) return
  const answered = { answer: answer.answer, answeredBy: 'a terminal', answeredAt: answer.at }
  const isOpen = and(eq(questions.sprintId, known.id), eq(questions.status, 'open'))
  await closeQuestion(t, isOpen, answered)
}

type AnswerFields = { readonly answer: string; readonly answeredBy: string; readonly answeredAt: number }

async function closeQuestion(t: Transaction, condition: SQL | undefined, answered: AnswerFields): Promise<void> {
  const rows = await t.tx.db
    .update(questions)
    .set({ status: 'answered', ...answered })
    .where(condition)
    .returning()
  for (const { agentId, id } of rows) await recordRowChanges(t, { kind: 'question', agentId, questionId: id })
}

const activeStatuses: readonly SprintStatus[] = ['in-progress', 'parked']

/** The agent shows the active sprint, otherwise the last one. Sprints that never ran do not count. */
async function attachSprint(t: AgentTransaction, { id: sprintId, status, updatedAt }: SprintRow): Promise<void> {
  if (t.agent.sprintId === sprintId || status === 'not-started') return
  const shown = t.agent.sprintId === null ? undefined : await readSprintRow(t, t.agent.sprintId)
  const isLater = shown === undefined || activeStatuses.includes(status) || updatedAt > shown.updatedAt
  if (!isLater || t.agent.inRalphMode || (shown && staysAttached(shown))) return
  await updateAgent(t, { sprintId })
}

/** Sprints of the fleet stay attached to their agent while they are scheduled or wait for an answer. */
const staysAttached = ({ status, observed }: SprintRow): boolean =>
  activeStatuses.includes(status) || (!observed && (status === 'not-started' || status === 'needs-human'))

/** `seq`: the number of the last stored event. */
export type StoredObservation = Pick<SprintRow, 'progress' | 'seq'>

/** The stored state of an observed sprint; undefined if there is none. */
export async function readObservation(
  { database: { db } }: Fleet,
  sprintId: string,
): Promise<StoredObservation | undefined> {
  const fields = { progress: sprints.progress, seq: sprints.seq }
  const [row] = await db.select(fields).from(sprints).where(eq(sprints.id, sprintId))
  return row
}

/** Observed sprints of an agent that are in progress or wait for a user. */
export const listOpenObservations = ({ database: { db } }: Fleet, agentId: string): Promise<SprintRow[]> =>
  db
    .select()
    .from(sprints)
    .where(
      and(
        eq(sprints.agentId, agentId),
        eq(sprints.observed, true),
        inArray(sprints.status, [...activeStatuses, 'needs-human']),
      ),
    )

/** Forwards a request to a sprint that `ralph run` controls. Never call it inside a transaction. */
export async function forwardRequest(
  fleet: Fleet,
  sprintId: string,
  request: ObservedRequest,
  by?: Requester,
): Promise<SprintRow> {
  const { database, clock } = fleet
  const isOpen = and(eq(questions.sprintId, sprintId), eq(questions.status, 'open'))
  const [question] = await database.db.select({ id: questions.id }).from(questions).where(isOpen)
  if (request.type === 'answer') await assertAnswerable(database.db, sprintId, request.questionId)
  await requireObserved(fleet).request(sprintId, request)
  return transaction(fleet, async (t) => {
    if (request.type === 'answer' && question) {
      const answered = { answer: request.answer, answeredBy: by?.name ?? 'a terminal', answeredAt: clock.now() }
      await closeQuestion(t, eq(questions.id, question.id), answered)
    }
    const [row] = await t.tx.db.select().from(sprints).where(eq(sprints.id, sprintId))
    if (!row) throw notFoundError('sprint')
    return row
  })
}

/** Only the backend that sees the sprint's folder can reach its `ralph run`. */
export function requireObserved({ observed }: Pick<Fleet, 'observed'>): ObservedSprints {
  if (observed) return observed
  throw new RalphError('NOT_SUPPORTED', 'the sprint runs in a terminal, and this backend does not see its folder', {
    hint: 'start `ralph serve` in the project folder',
  })
}
