import { setTimeout } from 'node:timers/promises'
import { sql, type SQL } from 'drizzle-orm'
import { onceAtATime } from '../../channel/turns.ts'
import type { Change } from '../../contract/fleet/event.ts'
import type { AccessLevel } from '../../contract/fleet/user.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { isAny } from '../database/columns.ts'
import type { Database, Queries } from '../database/database.ts'
import { events, type EventRow } from '../database/event.ts'
import { sprints } from '../database/sprint.ts'
import { eventsTopic } from '../fleet/announce.ts'
import { changesKeptMs, forgetChanges } from '../fleet/forget-changes.ts'
import { sharedRows } from '../views/agents.ts'
import { machineById } from '../views/machines.ts'
import { showEvent, showPrompt } from '../views/show.ts'
import { questionById } from '../views/sprints.ts'
import { frame } from './frame.ts'

/** One change and its audience: everyone, or the users who may read the agent. */
export type Told = {
  readonly id: string
  readonly agentId?: string | undefined
  readonly sprintId?: string | undefined
  readonly change: Change
  /** The SSE frame for users with this access level. Built once per level and shared. */
  readonly frame: (level?: AccessLevel) => Uint8Array
}

/** Row changes of one agent or of all, and events inside the named agent or sprint. */
export type Filter = { readonly agentId?: string | undefined; readonly sprintId?: string | undefined }

export interface Feed {
  /** Calls the listener with new items matching its filters, in order. Returns an unsubscribe function. */
  readonly listen: (listener: Listener) => () => void
  /** Listeners have received everything up to here; undefined before the first poll. */
  readonly position: () => string | undefined
  /** The next page of items after this position; `upTo` is where to continue, unchanged if there are no more. */
  readonly since: (id: string, filter: Filter) => Promise<Missed>
  /** If too many items follow this position, returns the position from which to continue after reloading everything. */
  readonly startOver: (id: string, filter: Filter) => Promise<string | undefined>
}

export type Listener = {
  readonly hear: (told: readonly Told[]) => void
  /** The filters of all current clients. A new filter applies from the current position on. */
  readonly filters: () => readonly Filter[]
}

export type Missed = { readonly told: readonly Told[]; readonly upTo: string }

export type FeedOptions = { readonly now: () => number; readonly log: (error: unknown) => void }

type Position = { readonly tx: string; readonly id: number }

const mostMissed = 2000
/** Maximum number of rows to search for matching ones. */
const mostPassedOver = 20_000
const batch = 1000
/** Page size when replaying missed items; the next page is read once this one is consumed. */
const part = 100
/** Poll interval, because signals may be lost. */
const lookMs = 1000
const forgetMs = 3_600_000
/** Pause between polls, which batches the rows that arrive during it. */
const restMs = 10

/** Reads the event table once for all clients of this process. */
export function createFeed(database: Database, { now, log }: FeedOptions): Feed & { readonly close: () => void } {
  const { db, signals } = database
  const listeners = new Set<Listener>()
  const interest = () => interestOf([...listeners].flatMap(({ filters }) => filters()))
  let at: Position | undefined

  /** Returns true if there is more to read. */
  const lookOnce = async (): Promise<boolean> => {
    if (listeners.size === 0) return false
    const from = (at ??= await newest(db))
    const upTo = await newest(db)
    if (idOf(upTo) === idOf(from)) return false
    const wanted = interest()
    const rows = await after(db, from, batch, sql`${isUpTo(upTo)} and ${wantedByAny(wanted)}`)
    const told = await toldBy(db, rows, now())
    // A client with further interests has joined.
    if (!covers(wanted, interest())) return true
    const isAll = rows.length < batch
    at = isAll ? upTo : (rows.at(-1) ?? upTo)
    if (told.length > 0) for (const { hear } of listeners) hear(told)
    return !isAll
  }
  const look = onceAtATime(async () => {
    try {
      while (await lookOnce());
    } finally {
      await setTimeout(restMs)
    }
  }, log)
  const quiet = signals.on(eventsTopic, look)
  const timer = setInterval(look, lookMs)
  const forgetting = setInterval(() => void forgetChanges(database, now()).catch(log), forgetMs)
  return {
    close: () => {
      quiet()
      clearInterval(timer)
      clearInterval(forgetting)
      listeners.clear()
    },
    listen: (listener) => {
      listeners.add(listener)
      look()
      return () => void listeners.delete(listener)
    },
    position: () => idOf(at),
    since: async (id, filter) => {
      const rows = await after(db, positionIn(id) ?? start, part, wantedBy(filter))
      return { told: await toldBy(db, rows, now()), upTo: idOf(rows.at(-1)) ?? id }
    },
    startOver: async (id, filter) => {
      const position = positionIn(id)
      const last = idOf(await newest(db))
      // A position in the future belongs to another database: the one before a backup was restored.
      if (!position || isLater(id, last) || (await isForgotten(db, position, now()))) return last
      return (await missesTooMuch(db, position, filter)) ? last : undefined
    },
  }
}

const start: Position = { tx: '0', id: 0 }

function idOf(position: Position): string
function idOf(position: Position | undefined): string | undefined
function idOf(position: Position | undefined): string | undefined {
  return position && `${position.tx}-${position.id}`
}

/** Reads only rows older than the oldest open transaction: no further rows can appear before them. */
const settled = sql`${events.tx} < pg_snapshot_xmin(pg_current_snapshot())`

const isAfter = ({ tx, id }: Position): SQL => sql`(${events.tx}, ${events.id}) > (${tx}::xid8, ${id}) and ${settled}`

const isUpTo = ({ tx, id }: Position): SQL => sql`(${events.tx}, ${events.id}) <= (${tx}::xid8, ${id})`

const after = (db: Queries, position: Position, limit: number, wanted = sql`true`): Promise<EventRow[]> =>
  db
    .select()
    .from(events)
    .where(sql`${isAfter(position)} and ${wanted}`)
    .orderBy(events.tx, events.id)
    .limit(limit)

/** The SQL form of `wants`. */
const wantedBy = ({ agentId, sprintId }: Filter): SQL => {
  const ofAgent = agentId === undefined ? sql`true` : sql`${events.agentId} = ${agentId}`
  const isRow = sql`${events.kind} <> 'event'`
  if (sprintId !== undefined) return sql`${ofAgent} and (${isRow} or ${events.sprintId} = ${sprintId})`
  return agentId === undefined ? isRow : ofAgent
}

/** The agents and sprints whose events are followed; row changes are always included. */
type Interest = { readonly agentIds: ReadonlySet<string>; readonly sprintIds: ReadonlySet<string> }

const interestOf = (filters: readonly Filter[]): Interest => ({
  agentIds: new Set(filters.flatMap(({ agentId, sprintId }) => (sprintId === undefined ? (agentId ?? []) : []))),
  sprintIds: new Set(filters.flatMap(({ sprintId }) => sprintId ?? [])),
})

const covers = (wide: Interest, { agentIds, sprintIds }: Interest): boolean =>
  [...agentIds].every((id) => wide.agentIds.has(id)) && [...sprintIds].every((id) => wide.sprintIds.has(id))

/** In a busy fleet no client follows most of the events, so they are not read. */
const wantedByAny = ({ agentIds, sprintIds }: Interest): SQL =>
  sql`(${events.kind} <> 'event' or ${isAny(events.agentId, [...agentIds])} or ${isAny(events.sprintId, [...sprintIds])})`

/** Whether an item matches the filter. */
export function wants({ agentId, sprintId }: Filter, told: Told): boolean {
  if (agentId !== undefined && told.agentId !== agentId) return false
  if (told.change.type !== 'event') return true
  return sprintId === undefined ? agentId !== undefined : told.sprintId === sprintId
}

/** Whether the position is so old that later changes were deleted. */
async function isForgotten(db: Queries, position: Position, now: number): Promise<boolean> {
  const [next] = await db
    .select({ at: events.at })
    .from(events)
    .where(sql`${isAfter(position)} and ${events.kind} <> 'event'`)
    .orderBy(events.tx, events.id)
    .limit(1)
  return next !== undefined && next.at < now - changesKeptMs
}

async function missesTooMuch(db: Queries, position: Position, filter: Filter): Promise<boolean> {
  const passed = db
    .select({ wanted: sql<boolean>`${wantedBy(filter)}`.as('wanted') })
    .from(events)
    .where(isAfter(position))
    .orderBy(events.tx, events.id)
    .limit(mostPassedOver + 1)
    .as('passed')
  const count = { all: sql<number>`count(*)::int`, wanted: sql<number>`count(*) filter (where ${passed.wanted})::int` }
  const [{ all, wanted } = { all: 0, wanted: 0 }] = await db.select(count).from(passed)
  return all > mostPassedOver || wanted > mostMissed
}

async function newest(db: Queries): Promise<Position> {
  const [row] = await db
    .select({ tx: events.tx, id: events.id })
    .from(events)
    .where(settled)
    .orderBy(sql`${events.tx} desc, ${events.id} desc`)
    .limit(1)
  return row ?? start
}

function positionIn(id: string): Position | undefined {
  const [, tx, row] = /^(\d{1,20})-(\d{1,18})$/.exec(id) ?? []
  return tx === undefined ? undefined : { tx, id: Number(row) }
}

export function isLater(id: string, than: string): boolean {
  const [a, b] = [positionIn(id), positionIn(than)]
  if (!a || !b) return true
  return a.tx === b.tx ? a.id > b.id : BigInt(a.tx) > BigInt(b.tx)
}

/** Turns rows into changes. A row that changed several times is reported once, in its current state. */
async function toldBy(db: Queries, rows: readonly EventRow[], now: number): Promise<Told[]> {
  const last = new Map<string, EventRow>()
  for (const row of rows) if (row.kind !== 'event') last.set(keyOf(row), row)
  const news = rows.filter((row) => row.kind === 'event' || last.get(keyOf(row)) === row)
  const ofKind = (kind: EventRow['kind'], id: (row: EventRow) => string | null): string[] =>
    news.filter((row) => row.kind === kind).flatMap((row) => id(row) ?? [])
  const found: Found = {
    agents: await sharedRows(
      db,
      ofKind('agent', ({ agentId }) => agentId),
      now,
    ),
    prompts: await promptsById(
      db,
      ofKind('prompt', ({ promptId }) => promptId),
    ),
    revs: await revsOf(
      db,
      ofKind('sprint', ({ sprintId }) => sprintId),
    ),
    machines: await each(
      ofKind('machine', ({ machineId }) => machineId),
      (id) => machineById(db, id, now),
    ),
    questions: await each(
      ofKind('question', ({ questionId }) => questionId),
      (id) => questionById(db, id),
    ),
  }
  return news.flatMap((row) => {
    const change = changeOf(row, found)
    if (!change) return []
    const id = idOf(row)
    return [
      {
        id,
        change,
        ...(row.agentId !== null && { agentId: row.agentId }),
        ...(row.sprintId !== null && { sprintId: row.sprintId }),
        frame: framesOf(id, change),
      },
    ]
  })
}

function framesOf(id: string, change: Change): Told['frame'] {
  const made = new Map<AccessLevel | undefined, Uint8Array>()
  return (level) => {
    const access = change.type === 'agent' ? level : undefined
    const known = made.get(access)
    if (known) return known
    const shown = change.type === 'agent' && access ? { ...change, row: { ...change.row, access } } : change
    const bytes = frame({ id, change: shown })
    made.set(access, bytes)
    return bytes
  }
}

const keyOf = ({ kind, agentId, sprintId, promptId, machineId, questionId }: EventRow): string =>
  [kind, kind === 'agent' ? agentId : (promptId ?? machineId ?? questionId ?? sprintId ?? agentId)].join(' ')

type Found = {
  readonly agents: Awaited<ReturnType<typeof sharedRows>>
  readonly prompts: Awaited<ReturnType<typeof promptsById>>
  readonly revs: ReadonlyMap<string, number>
  readonly machines: ReadonlyMap<string, NonNullable<Awaited<ReturnType<typeof machineById>>>>
  readonly questions: ReadonlyMap<string, NonNullable<Awaited<ReturnType<typeof questionById>>>>
}

function changeOf(row: EventRow, found: Found): Change | undefined {
  switch (row.kind) {
    case 'event':
      return row.payload ? { type: 'event', event: showEvent({ ...row, payload: row.payload }) } : undefined
    case 'agent': {
      const shared = found.agents.get(row.agentId ?? '')
      return shared && { type: 'agent', row: { ...shared, access: 'read' } }
    }
    case 'agent-gone':
      return { type: 'agent-gone', agentId: row.agentId ?? '' }
    case 'prompt': {
      const prompt = found.prompts.get(row.promptId ?? '')
      return prompt && { type: 'prompt', prompt }
    }
    case 'machine': {
      const machine = found.machines.get(row.machineId ?? '')
      return machine && { type: 'machine', machine }
    }
    case 'question': {
      const question = found.questions.get(row.questionId ?? '')
      return question && { type: 'question', question }
    }
    case 'sprint': {
      const rev = found.revs.get(row.sprintId ?? '')
      return rev === undefined
        ? undefined
        : { type: 'sprint', sprintId: row.sprintId ?? '', agentId: row.agentId ?? '', rev }
    }
  }
}

async function promptsById(db: Queries, ids: readonly string[]) {
  const rows = ids.length === 0 ? [] : await db.select().from(agentPrompts).where(isAny(agentPrompts.id, ids))
  return new Map(rows.map((row) => [row.id, showPrompt(row)]))
}

async function revsOf(db: Queries, ids: readonly string[]): Promise<Map<string, number>> {
  const fields = { id: sprints.id, rev: sprints.rev }
  const rows = ids.length === 0 ? [] : await db.select(fields).from(sprints).where(isAny(sprints.id, ids))
  return new Map(rows.map(({ id, rev }) => [id, rev]))
}

async function each<T>(ids: readonly string[], find: (id: string) => Promise<T | undefined>): Promise<Map<string, T>> {
  const all = new Map<string, T>()
  for (const id of ids) {
    const one = await find(id)
    if (one !== undefined) all.set(id, one)
  }
  return all
}
