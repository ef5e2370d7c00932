import { sql, type SQL } from 'drizzle-orm'
import type { SprintEvent } from '../../contract/events.ts'
import { json, moment } from '../database/columns.ts'
import type { Tx } from '../database/database.ts'
import type { EventKind } from '../database/event.ts'
import type { Fleet } from './ports.ts'

/** Identifies a changed row. */
type Changed = {
  readonly kind: Exclude<EventKind, 'event'>
  readonly agentId?: string
  readonly sprintId?: string
  readonly promptId?: string
  readonly machineId?: string
  readonly questionId?: string
}

const gathered = new WeakMap<Tx, Map<string, Changed>>()

/**
 * Records row changes in the event log, once per row and transaction. Readers load the current row when they show it.
 */
export async function announce(fleet: Fleet, tx: Tx, ...changes: readonly Changed[]): Promise<void> {
  const known = gathered.get(tx) ?? gather(fleet, tx)
  for (const change of changes) known.set(keyOf(change), change)
}

function gather(fleet: Fleet, tx: Tx): Map<string, Changed> {
  const changes = new Map<string, Changed>()
  gathered.set(tx, changes)
  tx.beforeCommit(async () => {
    if (changes.size > 0) await tx.db.execute(changeRows([...changes.values()], fleet.clock.now()))
    wake(fleet, tx)
  })
  return changes
}

const changeRows = (changes: readonly Changed[], at: number): SQL => sql`
  insert into event (kind, agent_id, sprint_id, prompt_id, machine_id, question_id, at)
  select kind, "agentId", "sprintId", "promptId", "machineId", "questionId", ${moment.of(at)}
  from jsonb_to_recordset(${json(changes)})
    as row (kind text, "agentId" uuid, "sprintId" uuid, "promptId" uuid, "machineId" uuid, "questionId" uuid)`

const keyOf = ({
  kind,
  promptId = '',
  questionId = '',
  sprintId = '',
  machineId = '',
  agentId = '',
}: Changed): string => `${kind} ${promptId || questionId || sprintId || machineId || agentId}`

/** Signals that the event log has new rows. */
export const eventsTopic = 'events'

const wake = ({ database }: Fleet, tx: Tx) => tx.afterCommit(() => database.signals.give(eventsTopic, ''))

export type Told = {
  readonly seq: number
  readonly at: number
  readonly event: SprintEvent
  readonly promptId?: string | undefined
  readonly clipped?: string | undefined
}

type Of = { readonly agentId: string; readonly sprintId: string | null }

/** Appends events of a sprint, or of a prompt without a sprint. */
export async function appendEvents(fleet: Fleet, tx: Tx, of: Of, told: readonly Told[]): Promise<void> {
  if (told.length === 0) return
  await tx.db.execute(eventRows(of, told))
  wake(fleet, tx)
}

/**
 * Passes all rows as one JSON parameter: parsing a thousand rows with ten parameters each takes the server longer than
 * writing them.
 */
export function eventRows({ agentId, sprintId }: Of, told: readonly Told[], condition = sql`true`): SQL {
  const rows = told.map(({ event, at, ...rest }) => ({ ...rest, ...aboutOf(event), payload: event, at: new Date(at) }))
  return sql`
    insert into event (kind, agent_id, sprint_id, prompt_id, seq, type, iteration, payload, clipped, at)
    select 'event', ${agentId}, ${sprintId}, "promptId", seq, type, iteration, payload, clipped, at
    from jsonb_to_recordset(${json(rows)})
      as row ("promptId" uuid, seq int, type text, iteration int, payload jsonb, clipped text, at timestamptz)
    where ${condition} order by seq`
}

const aboutOf = (event: SprintEvent) => ({
  type: event.type === 'agent' ? event.event.kind : event.type,
  iteration: 'iteration' in event ? event.iteration : undefined,
})
