import { inArray, sql } from 'drizzle-orm'
import type { Change } from '../../contract/fleet/event.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import type { Database, Queries } from '../database/database.ts'
import { events, type EventRow } from '../database/event.ts'
import { sprints } from '../database/sprint.ts'
import { eventsTopic } from '../fleet/announce.ts'
import { sharedRows } from '../views/agents.ts'
import { machineById } from '../views/machines.ts'
import { showEvent, showPrompt } from '../views/show.ts'
import { questionById } from '../views/sprints.ts'
import { frame } from './frame.ts'

/** One change, and whom it concerns: nobody in particular, or those who may read the agent. */
export type Told = {
  readonly id: string
  readonly agentId?: string | undefined
  readonly sprintId?: string | undefined
  readonly change: Change
  /** The SSE frame, made once. */
  readonly text: () => string
}

export interface Feed {
  /** Calls with what is new, in order. Returns how to stop. */
  readonly listen: (hear: (told: readonly Told[]) => void) => () => void
  readonly since: (id: string) => Promise<readonly Told[] | 'too-much'>
}

export type FeedOptions = { readonly now: () => number; readonly log: (error: unknown) => void }

type Position = { readonly tx: string; readonly id: number }

const mostMissed = 2000
const batch = 1000
/** Signals may be lost; the feed is looked at by itself now and then. */
const lookMs = 1000

/** Reads the table of events once for everybody in this process. */
export function createFeed(database: Database, { now, log }: FeedOptions): Feed & { readonly close: () => void } {
  const { db, signals } = database
  const listeners = new Set<(told: readonly Told[]) => void>()
  let at: Position | undefined
  let looking = false
  let again = false

  const look = async (): Promise<void> => {
    if (listeners.size === 0) return
    if (looking) {
      again = true
      return
    }
    looking = true
    try {
      at ??= await newest(db)
      const rows = await after(db, at, batch)
      const last = rows.at(-1)
      if (last) {
        at = { tx: last.tx, id: last.id }
        const told = await toldBy(db, rows, now())
        for (const hear of listeners) hear(told)
        again ||= rows.length === batch
      }
    } catch (error) {
      log(error)
    } finally {
      looking = false
    }
    if (again) {
      again = false
      void look()
    }
  }

  const quiet = signals.on(eventsTopic, () => void look())
  const timer = setInterval(() => void look(), lookMs)
  return {
    close: () => {
      quiet()
      clearInterval(timer)
    },
    listen: (hear) => {
      listeners.add(hear)
      void look()
      return () => void listeners.delete(hear)
    },
    since: async (id) => {
      const position = positionIn(id)
      if (!position) return 'too-much'
      const rows = await after(db, position, mostMissed + 1)
      return rows.length > mostMissed ? 'too-much' : toldBy(db, rows, now())
    },
  }
}

/** Rows are read below the oldest transaction that is still under way: behind it, none can appear any more. */
const settled = sql`${events.tx} < pg_snapshot_xmin(pg_current_snapshot())`

const after = (db: Queries, { tx, id }: Position, limit: number): Promise<EventRow[]> =>
  db
    .select()
    .from(events)
    .where(sql`(${events.tx}, ${events.id}) > (${tx}::xid8, ${id}) and ${settled}`)
    .orderBy(events.tx, events.id)
    .limit(limit)

async function newest(db: Queries): Promise<Position> {
  const [row] = await db
    .select({ tx: events.tx, id: events.id })
    .from(events)
    .where(settled)
    .orderBy(sql`${events.tx} desc, ${events.id} desc`)
    .limit(1)
  return row ?? { tx: '0', id: 0 }
}

function positionIn(id: string): Position | undefined {
  const [, tx, row] = /^(\d{1,20})-(\d{1,18})$/.exec(id) ?? []
  return tx === undefined ? undefined : { tx, id: Number(row) }
}

/** Rows as changes. A row that has changed several times is told once, as it is now. */
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
    const id = `${row.tx}-${row.id}`
    let text: string | undefined
    return [
      {
        id,
        change,
        ...(row.agentId !== null && { agentId: row.agentId }),
        ...(row.sprintId !== null && { sprintId: row.sprintId }),
        text: () => (text ??= frame({ id, change })),
      },
    ]
  })
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
  const rows =
    ids.length === 0
      ? []
      : await db
          .select()
          .from(agentPrompts)
          .where(inArray(agentPrompts.id, [...ids]))
  return new Map(rows.map((row) => [row.id, showPrompt(row)]))
}

async function revsOf(db: Queries, ids: readonly string[]): Promise<Map<string, number>> {
  const fields = { id: sprints.id, rev: sprints.rev }
  const rows =
    ids.length === 0
      ? []
      : await db
          .select(fields)
          .from(sprints)
          .where(inArray(sprints.id, [...ids]))
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
