import { setTimeout } from 'node:timers/promises'
import { sql, type SQL } from 'drizzle-orm'
import { meters } from '../meters/meters.ts'
import { coalesce } from '../../platform/async.ts'
import type { FleetChange } from '../../contract/fleet/event.ts'
import type { AccessLevel } from '../../contract/fleet/user.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { equalsAny } from '../database/columns.ts'
import type { Database, Queries } from '../database/database.ts'
import { events, type EventRow } from '../database/event.ts'
import { sprints } from '../database/sprint.ts'
import { eventsTopic } from './event-log.ts'
import { changeRetentionMs, deleteOldChanges } from './change-retention.ts'
import { defaultHistoryMs, deleteOldHistory } from './history-retention.ts'
import { listSharedRows } from '../views/agents.ts'
import { findMachine } from '../views/machines.ts'
import { showEvent, showPrompt } from '../views/show.ts'
import { findQuestion } from '../views/sprints.ts'
import { formatFrame } from './frame.ts'

/** One change and its audience: everyone, or the users who may read the agent. */
export type FeedItem = {
  readonly id: string
  readonly agentId?: string | undefined
  readonly sprintId?: string | undefined
  readonly change: FleetChange
  /** The SSE frame for users with this access level. Built once per level and shared. */
  readonly frame: (level?: AccessLevel) => Uint8Array
}

/** Row changes of one agent or of all, and events inside the named agent or sprints (IDs separated by commas). */
export type Filter = { readonly agentId?: string | undefined; readonly sprintId?: string | undefined }

export interface Feed {
  /** Calls the listener with new items matching its filters, in order. Returns an unsubscribe function. */
  readonly subscribe: (listener: FeedListener) => () => void
  /** Listeners have received everything up to here; undefined before the first poll. */
  readonly position: () => string | undefined
  /** The next page of items after this position; `upTo` is where to continue, unchanged if there are no more. */
  readonly since: (id: string, filter: Filter) => Promise<MissedItems>
  /** If too many items follow this position, returns the position from which to continue after reloading everything. */
  readonly startOver: (id: string, filter: Filter) => Promise<string | undefined>
}

export type FeedListener = {
  readonly onItems: (items: readonly FeedItem[]) => void
  /** The filters of all current clients. A new filter applies from the current position on. */
  readonly filters: () => readonly Filter[]
}

export type MissedItems = { readonly items: readonly FeedItem[]; readonly upTo: string }

export type FeedOptions = {
  readonly now: () => number
  readonly log: (error: unknown) => void
  /** How long events and ended prompts are kept. */
  readonly historyMs?: number | 'all' | undefined
}

type FeedPosition = { readonly tx: string; readonly id: number }

const maxMissed = 2000
/** Maximum number of rows to search for matching ones. */
const maxScanned = 20_000
const pollBatchSize = 1000
/** Page size when replaying missed items; the next page is read once this one is consumed. */
const replayPageSize = 100
/** Poll interval, because signals may be lost. */
const pollIntervalMs = 1000
const cleanupIntervalMs = 3_600_000
/** Pause between polls, which batches the rows that arrive during it. */
const pollPauseMs = 10

async function forget(database: Database, { now, historyMs = defaultHistoryMs }: FeedOptions): Promise<void> {
  await deleteOldChanges(database, now())
  if (historyMs !== 'all') await deleteOldHistory(database, now() - historyMs)
}

/** Reads the event table once for all clients of this process. */
export function createFeed(database: Database, options: FeedOptions): Feed & { readonly close: () => void } {
  const { now, log } = options
  const { db, signals } = database
  const listeners = new Set<FeedListener>()
  const interest = () => mergeFilters([...listeners].flatMap(({ filters }) => filters()))
  let at: FeedPosition | undefined

  /** Returns true if there is more to read. */
  const pollOnce = async (): Promise<boolean> => {
    if (listeners.size === 0) return false
    const from = (at ??= await readNewestPosition(db))
    const upTo = await readNewestPosition(db)
    if (formatFeedPosition(upTo) === formatFeedPosition(from)) return false
    const filters = interest()
    const rows = await afterPosition(db, from, pollBatchSize, sql`${isUpTo(upTo)} and ${matchesInterest(filters)}`)
    const items = await toFeedItems(db, rows, now())
    // A client with further interests has joined.
    if (!coversInterest(filters, interest())) return true
    const isAll = rows.length < pollBatchSize
    at = isAll ? upTo : (rows.at(-1) ?? upTo)
    if (items.length > 0) for (const { onItems } of listeners) onItems(items)
    for (const { at: stored, kind } of rows)
      if (kind !== 'event') meters.eventLagSeconds.observe({}, Math.max(0, now() - stored) / 1000)
    return !isAll
  }
  const poll = coalesce(async () => {
    try {
      while (await pollOnce());
    } finally {
      await setTimeout(pollPauseMs)
    }
  }, log)
  const unsubscribe = signals.on(eventsTopic, poll)
  const timer = setInterval(poll, pollIntervalMs)
  const forgetting = setInterval(() => void forget(database, options).catch(log), cleanupIntervalMs)
  return {
    close: () => {
      unsubscribe()
      clearInterval(timer)
      clearInterval(forgetting)
      listeners.clear()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      poll()
      return () => void listeners.delete(listener)
    },
    position: () => formatFeedPosition(at),
    since: async (id, filter) => {
      const rows = await afterPosition(db, parsePosition(id) ?? feedStart, replayPageSize, matchesFilter(filter))
      return { items: await toFeedItems(db, rows, now()), upTo: formatFeedPosition(rows.at(-1)) ?? id }
    },
    startOver: async (id, filter) => {
      const position = parsePosition(id)
      const last = formatFeedPosition(await readNewestPosition(db))
      // A position in the future belongs to another database: the one before a backup was restored.
      if (!position || isLater(id, last) || (await isExpired(db, position, now()))) return last
      return (await exceedsReplayLimit(db, position, filter)) ? last : undefined
    },
  }
}

const feedStart: FeedPosition = { tx: '0', id: 0 }

function formatFeedPosition(position: FeedPosition): string
function formatFeedPosition(position: FeedPosition | undefined): string | undefined
function formatFeedPosition(position: FeedPosition | undefined): string | undefined {
  return position && `${position.tx}-${position.id}`
}

/** Reads only rows older than the oldest open transaction: no further rows can appear before them. */
const isSettled = sql`${events.tx} < pg_snapshot_xmin(pg_current_snapshot())`

const isAfter = ({ tx, id }: FeedPosition): SQL =>
  sql`(${events.tx}, ${events.id}) > (${tx}::xid8, ${id}) and ${isSettled}`

const isUpTo = ({ tx, id }: FeedPosition): SQL => sql`(${events.tx}, ${events.id}) <= (${tx}::xid8, ${id})`

const afterPosition = (
  db: Queries,
  position: FeedPosition,
  limit: number,
  condition = sql`true`,
): Promise<EventRow[]> =>
  db
    .select()
    .from(events)
    .where(sql`${isAfter(position)} and ${condition}`)
    .orderBy(events.tx, events.id)
    .limit(limit)

/** The SQL form of `wants`. */
const matchesFilter = ({ agentId, sprintId }: Filter): SQL => {
  const ofAgent = agentId === undefined ? sql`true` : sql`${events.agentId} = ${agentId}`
  const isRow = sql`${events.kind} <> 'event'`
  if (sprintId !== undefined)
    return sql`${ofAgent} and (${isRow} or ${equalsAny(events.sprintId, sprintId.split(','))})`
  return agentId === undefined ? isRow : ofAgent
}

/** The agents and sprints whose events are followed; row changes are always included. */
type FeedInterest = { readonly agentIds: ReadonlySet<string>; readonly sprintIds: ReadonlySet<string> }

const mergeFilters = (filters: readonly Filter[]): FeedInterest => ({
  agentIds: new Set(filters.flatMap(({ agentId, sprintId }) => (sprintId === undefined ? (agentId ?? []) : []))),
  sprintIds: new Set(filters.flatMap(({ sprintId }) => sprintId?.split(',') ?? [])),
})

const coversInterest = (wide: FeedInterest, { agentIds, sprintIds }: FeedInterest): boolean =>
  [...agentIds].every((id) => wide.agentIds.has(id)) && [...sprintIds].every((id) => wide.sprintIds.has(id))

/** In a busy fleet no client follows most of the events, so they are not read. */
const matchesInterest = ({ agentIds, sprintIds }: FeedInterest): SQL =>
  sql`(${events.kind} <> 'event' or ${equalsAny(events.agentId, [...agentIds])} or ${equalsAny(events.sprintId, [...sprintIds])})`

/** Whether an item matches the filter. */
export function itemMatches({ agentId, sprintId }: Filter, item: FeedItem): boolean {
  if (agentId !== undefined && item.agentId !== agentId) return false
  if (item.change.type !== 'event') return true
  if (sprintId === undefined) return agentId !== undefined
  return item.sprintId !== undefined && sprintId.split(',').includes(item.sprintId)
}

/** Whether the position is so old that later changes were deleted. */
async function isExpired(db: Queries, position: FeedPosition, now: number): Promise<boolean> {
  const [next] = await db
    .select({ at: events.at })
    .from(events)
    .where(sql`${isAfter(position)} and ${events.kind} <> 'event'`)
    .orderBy(events.tx, events.id)
    .limit(1)
  return next !== undefined && next.at < now - changeRetentionMs
}

async function exceedsReplayLimit(db: Queries, position: FeedPosition, filter: Filter): Promise<boolean> {
  const passed = db
    .select({ matching: sql<boolean>`${matchesFilter(filter)}`.as('matching') })
    .from(events)
    .where(isAfter(position))
    .orderBy(events.tx, events.id)
    .limit(maxScanned + 1)
    .as('passed')
  const count = {
    all: sql<number>`count(*)::int`,
    matching: sql<number>`count(*) filter (where ${passed.matching})::int`,
  }
  const [{ all, matching } = { all: 0, matching: 0 }] = await db.select(count).from(passed)
  return all > maxScanned || matching > maxMissed
}

async function readNewestPosition(db: Queries): Promise<FeedPosition> {
  const [row] = await db
    .select({ tx: events.tx, id: events.id })
    .from(events)
    .where(isSettled)
    .orderBy(sql`${events.tx} desc, ${events.id} desc`)
    .limit(1)
  return row ?? feedStart
}

function parsePosition(id: string): FeedPosition | undefined {
  const [, tx, row] = /^(\d{1,20})-(\d{1,18})$/.exec(id) ?? []
  return tx === undefined ? undefined : { tx, id: Number(row) }
}

export function isLater(id: string, than: string): boolean {
  const [a, b] = [parsePosition(id), parsePosition(than)]
  if (!a || !b) return true
  return a.tx === b.tx ? a.id > b.id : BigInt(a.tx) > BigInt(b.tx)
}

/** Turns rows into changes. A row that changed several times is reported once, in its current state. */
async function toFeedItems(db: Queries, rows: readonly EventRow[], now: number): Promise<FeedItem[]> {
  const last = new Map<string, EventRow>()
  for (const row of rows) if (row.kind !== 'event') last.set(changeKey(row), row)
  const news = rows.filter((row) => row.kind === 'event' || last.get(changeKey(row)) === row)
  const ofKind = (kind: EventRow['kind'], id: (row: EventRow) => string | null): string[] =>
    news.filter((row) => row.kind === kind).flatMap((row) => id(row) ?? [])
  const found: LoadedRows = {
    agents: await listSharedRows(
      db,
      ofKind('agent', ({ agentId }) => agentId),
      now,
    ),
    prompts: await promptsById(
      db,
      ofKind('prompt', ({ promptId }) => promptId),
    ),
    revs: await revisionsById(
      db,
      ofKind('sprint', ({ sprintId }) => sprintId),
    ),
    machines: await loadEach(
      ofKind('machine', ({ machineId }) => machineId),
      (id) => findMachine(db, id, now),
    ),
    questions: await loadEach(
      ofKind('question', ({ questionId }) => questionId),
      (id) => findQuestion(db, id),
    ),
  }
  return news.flatMap((row) => {
    const change = toChange(row, found)
    if (!change) return []
    const id = formatFeedPosition(row)
    return [
      {
        id,
        change,
        ...(row.agentId !== null && { agentId: row.agentId }),
        ...(row.sprintId !== null && { sprintId: row.sprintId }),
        frame: createFrames(id, change),
      },
    ]
  })
}

function createFrames(id: string, change: FleetChange): FeedItem['frame'] {
  const made = new Map<AccessLevel | undefined, Uint8Array>()
  return (level) => {
    const access = change.type === 'agent' ? level : undefined
    const known = made.get(access)
    if (known) return known
    const shown = change.type === 'agent' && access ? { ...change, row: { ...change.row, access } } : change
    const bytes = formatFrame({ id, change: shown })
    made.set(access, bytes)
    return bytes
  }
}

const changeKey = ({ kind, agentId, sprintId, promptId, machineId, questionId }: EventRow): string =>
  [kind, kind === 'agent' ? agentId : (promptId ?? machineId ?? questionId ?? sprintId ?? agentId)].join(' ')

type LoadedRows = {
  readonly agents: Awaited<ReturnType<typeof listSharedRows>>
  readonly prompts: Awaited<ReturnType<typeof promptsById>>
  readonly revs: ReadonlyMap<string, number>
  readonly machines: ReadonlyMap<string, NonNullable<Awaited<ReturnType<typeof findMachine>>>>
  readonly questions: ReadonlyMap<string, NonNullable<Awaited<ReturnType<typeof findQuestion>>>>
}

function toChange(row: EventRow, found: LoadedRows): FleetChange | undefined {
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
  const rows = ids.length === 0 ? [] : await db.select().from(agentPrompts).where(equalsAny(agentPrompts.id, ids))
  return new Map(rows.map((row) => [row.id, showPrompt(row)]))
}

async function revisionsById(db: Queries, ids: readonly string[]): Promise<Map<string, number>> {
  const fields = { id: sprints.id, rev: sprints.rev }
  const rows = ids.length === 0 ? [] : await db.select(fields).from(sprints).where(equalsAny(sprints.id, ids))
  return new Map(rows.map(({ id, rev }) => [id, rev]))
}

async function loadEach<T>(
  ids: readonly string[],
  find: (id: string) => Promise<T | undefined>,
): Promise<Map<string, T>> {
  const all = new Map<string, T>()
  for (const id of ids) {
    const one = await find(id)
    if (one !== undefined) all.set(id, one)
  }
  return all
}
