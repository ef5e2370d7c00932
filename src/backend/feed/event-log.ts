import { sql, type SQL } from 'drizzle-orm'
import type { SprintEvent } from '../../contract/events.ts'
import { jsonValue, timestampMs } from '../database/columns.ts'
import type { Tx } from '../database/database.ts'
import type { EventKind } from '../database/event.ts'
import type { Transaction } from '../fleet/transaction.ts'

/** Identifies a changed row. */
type RowChange = {
  readonly kind: Exclude<EventKind, 'event'>
  readonly agentId?: string
  readonly sprintId?: string
  readonly promptId?: string
  readonly machineId?: string
  readonly questionId?: string
}

const pendingChanges = new WeakMap<Tx, Map<string, RowChange>>()

/**
 * Records row changes in the event log, once per row and transaction. Readers load the current row when they show it.
 */
export async function recordRowChanges(t: Transaction, ...changes: readonly RowChange[]): Promise<void> {
  const known = pendingChanges.get(t.tx) ?? collectChanges(t)
  for (const change of changes) known.set(rowChangeKey(change), change)
}

function collectChanges({ fleet, tx }: Transaction): Map<string, RowChange> {
  const changes = new Map<string, RowChange>()
  pendingChanges.set(tx, changes)
  tx.beforeCommit(async () => {
    if (changes.size > 0) await tx.db.execute(insertChanges([...changes.values()], fleet.clock.now()))
    signalEvents({ fleet, tx })
  })
  return changes
}

const insertChanges = (changes: readonly RowChange[], at: number): SQL => sql`
  insert into event (kind, agent_id, sprint_id, prompt_id, machine_id, question_id, at)
  select kind, "agentId", "sprintId", "promptId", "machineId", "questionId", ${timestampMs.literal(at)}
  from jsonb_to_recordset(${jsonValue(changes)})
    as row (kind text, "agentId" uuid, "sprintId" uuid, "promptId" uuid, "machineId" uuid, "questionId" uuid)`

const rowChangeKey = ({
  kind,
  promptId = '',
  questionId = '',
  sprintId = '',
  machineId = '',
  agentId = '',
}: RowChange): string => `${kind} ${promptId || questionId || sprintId || machineId || agentId}`

/** Signals that the event log has new rows. */
export const eventsTopic = 'events'

const signalEvents = ({ fleet, tx }: Transaction) => tx.afterCommit(() => fleet.database.signals.emit(eventsTopic, ''))

export type NewEvent = {
  readonly seq: number
  readonly at: number
  readonly event: SprintEvent
  readonly promptId?: string | undefined
  readonly clipped?: string | undefined
}

type EventOwner = { readonly agentId: string; readonly sprintId: string | null }

/** Appends events of a sprint, or of a prompt without a sprint. */
export async function appendEvents(t: Transaction, owner: EventOwner, newEvents: readonly NewEvent[]): Promise<void> {
  if (newEvents.length === 0) return
  await t.tx.db.execute(insertEvents(owner, newEvents))
  signalEvents(t)
}

/**
 * Passes all rows as one JSON parameter: parsing a thousand rows with ten parameters each takes the server longer than
 * writing them.
 */
export function insertEvents(
  { agentId, sprintId }: EventOwner,
  newEvents: readonly NewEvent[],
  condition = sql`true`,
): SQL {
  const rows = newEvents.map(({ event, at, ...rest }) => ({
    ...rest,
    ...eventColumns(event),
    payload: event,
    at: new Date(at),
  }))
  return sql`
    insert into event (kind, agent_id, sprint_id, prompt_id, seq, type, iteration, payload, clipped, at)
    select 'event', ${agentId}, ${sprintId}, "promptId", seq, type, iteration, payload, clipped, at
    from jsonb_to_recordset(${jsonValue(rows)})
      as row ("promptId" uuid, seq int, type text, iteration int, payload jsonb, clipped text, at timestamptz)
    where ${condition} order by seq`
}

const eventColumns = (event: SprintEvent) => ({
  type: event.type === 'agent' ? event.event.kind : event.type,
  iteration: 'iteration' in event ? event.iteration : undefined,
})
