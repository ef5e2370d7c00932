import { eq } from 'drizzle-orm'
import { RalphError } from '../../../contract/errors.ts'
import { formatTimestamp } from '../../../contract/time.ts'
import { events } from '../../database/event.ts'
import { observedHere } from '../../fleet/observed.ts'
import type { Fleet } from '../../fleet/ports.ts'
import {
  answerSprint,
  dismissQuestion,
  pauseSprint,
  restoreSprint,
  resumeSprint,
  startSprint,
  stopSprint,
  tellSprint,
} from '../../fleet/sprints.ts'
import { agents } from '../../database/agent.ts'
import { sprints } from '../../database/sprint.ts'
import { filesIn } from '../../views/patch.ts'
import { showSprint } from '../../views/show.ts'
import {
  getSprint,
  listEvents,
  listIterations,
  listQuestions,
  listSprints,
  questionById,
  usageOf,
} from '../../views/sprints.ts'
import type { Handlers } from '../call.ts'
import { askerOf, viewerOf } from './viewer.ts'

type Answered = Pick<
  Handlers,
  | 'listSprints'
  | 'startSprint'
  | 'getSprint'
  | 'pauseSprint'
  | 'resumeSprint'
  | 'stopSprint'
  | 'answerSprint'
  | 'tellSprint'
  | 'restoreSprint'
  | 'listIterations'
  | 'listEvents'
  | 'readOutput'
  | 'diffSprint'
  | 'listQuestions'
  | 'dismissQuestion'
  | 'usage'
>

export const sprintHandlers = (fleet: Fleet): Answered => ({
  ...commands(fleet),
  ...questionsAsked(fleet),
  ...reads(fleet),
})

const commands = (
  fleet: Fleet,
): Pick<
  Answered,
  'startSprint' | 'pauseSprint' | 'resumeSprint' | 'stopSprint' | 'answerSprint' | 'tellSprint' | 'restoreSprint'
> => ({
  startSprint: async ({ ids, body, who }) => showSprint(await startSprint(fleet, ids.agentId, body, askerOf(who))),
  pauseSprint: async ({ ids, body }) => showSprint(await pauseSprint(fleet, ids.sprintId, body.when)),
  resumeSprint: async ({ ids }) => showSprint(await resumeSprint(fleet, ids.sprintId)),
  stopSprint: async ({ ids, body }) => showSprint(await stopSprint(fleet, ids.sprintId, body.when)),
  answerSprint: async ({ ids, body, who }) =>
    showSprint(await answerSprint(fleet, ids.sprintId, body.answer, askerOf(who))),
  tellSprint: async ({ ids, body }) => showSprint(await tellSprint(fleet, ids.sprintId, body)),
  restoreSprint: async ({ ids, body, revision }) => {
    const { rev } = await getSprint(fleet.database.db, ids.sprintId)
    if (revision !== undefined && revision !== rev) {
      throw new RalphError('REVISION_STALE', `the sprint has changed: it is now at revision ${rev}`, {
        hint: 'reload it, then decide',
      })
    }
    const { saved } = await restoreSprint(fleet, ids.sprintId, body.iteration)
    return { success: true, saved }
  },
})

const questionsAsked = (fleet: Fleet): Pick<Answered, 'listQuestions' | 'dismissQuestion'> => ({
  listQuestions: ({ query, who }) => listQuestions(fleet.database.db, viewerOf(who), query),
  dismissQuestion: async ({ ids }) => {
    await dismissQuestion(fleet, ids.questionId)
    const question = await questionById(fleet.database.db, ids.questionId)
    if (!question) throw missing()
    return question
  },
})

const reads = (
  fleet: Fleet,
): Pick<
  Answered,
  'listSprints' | 'getSprint' | 'listIterations' | 'listEvents' | 'readOutput' | 'diffSprint' | 'usage'
> => {
  const { db } = fleet.database
  return {
    listSprints: ({ query, who }) => listSprints(db, viewerOf(who), query),
    getSprint: ({ ids }) => getSprint(db, ids.sprintId),
    listIterations: ({ ids, query }) => listIterations(db, ids.sprintId, query),
    listEvents: ({ ids, query }) => listEvents(db, ids, query),
    usage: ({ query, who }) =>
      usageOf(db, viewerOf(who), { days: query.days, today: formatTimestamp(fleet.clock.now()).slice(0, 10) }),
    readOutput: async ({ ids, query: { offset } }) => {
      const [row] = await db
        .select()
        .from(events)
        .where(eq(events.id, Number(ids.eventId)))
      if (!row || row.sprintId !== ids.sprintId || row.clipped === null || row.agentId === null) throw missing()
      const machineId = await machineOf(fleet, ids.sprintId)
      const wanted = { agentId: row.agentId, area: 'agent', path: row.clipped, offset, length: outputPart } as const
      const { size, base64 } = await fleet.machines.ask(machineId, 'read-file', wanted)
      const bytes = Buffer.from(base64, 'base64')
      const next = offset + bytes.length
      return { text: bytes.toString(), size, ...(next < size && { next }) }
    },
    diffSprint: async ({ ids, query }) => {
      const { agentId, progress, observed } = await getSprint(db, ids.sprintId)
      const range = { from: query.from ?? 0, to: query.to ?? progress.stats.currentIteration }
      const shown = { from: `${range.from}`, to: `${range.to}` }
      if (observed) {
        const patch = await observedHere(fleet).diff(ids.sprintId, range)
        return { ...shown, files: filesIn(patch.slice(0, longestPatch)), truncated: patch.length > longestPatch }
      }
      const machineId = await machineOf(fleet, ids.sprintId)
      const { patch, truncated } = await fleet.machines.ask(machineId, 'diff', {
        agentId,
        sprintId: ids.sprintId,
        ...range,
      })
      return { ...shown, files: filesIn(patch), truncated }
    },
  }
}

const outputPart = 256 * 1024
const longestPatch = 2 * 1024 * 1024

const missing = () => new RalphError('NOT_FOUND', 'not found, or you have no access')

async function machineOf({ database: { db } }: Fleet, sprintId: string): Promise<string> {
  const [row] = await db
    .select({ machineId: agents.machineId })
    .from(sprints)
    .innerJoin(agents, eq(agents.id, sprints.agentId))
    .where(eq(sprints.id, sprintId))
  if (!row) throw missing()
  return row.machineId
}
