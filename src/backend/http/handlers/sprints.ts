import { eq } from 'drizzle-orm'
import { RalphError } from '../../../contract/errors.ts'
import { formatTimestamp } from '../../../contract/time.ts'
import { events } from '../../database/event.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import {
  answerSprint,
  dismissQuestion,
  pauseSprint,
  resumeSprint,
  startSprint,
  stopSprint,
  messageSprint,
  withdrawMessage,
} from '../../sprints/sprints.ts'
import { agents } from '../../database/agent.ts'
import { sprints } from '../../database/sprint.ts'
import { showSprint } from '../../views/show.ts'
import {
  getSprint,
  listEvents,
  listIterations,
  listQuestions,
  listSprintPage,
  readOutline,
  findQuestion,
  readUsage,
} from '../../views/sprints.ts'
import type { RouteHandlers } from '../calls/call.ts'
import { toRequester, toViewer } from './caller-views.ts'

type SprintRoute = Pick<
  RouteHandlers,
  | 'listSprints'
  | 'startSprint'
  | 'getSprint'
  | 'pauseSprint'
  | 'resumeSprint'
  | 'stopSprint'
  | 'answerSprint'
  | 'tellSprint'
  | 'withdrawMessage'
  | 'listIterations'
  | 'listEvents'
  | 'outlineSprint'
  | 'readOutput'
  | 'listQuestions'
  | 'dismissQuestion'
  | 'usage'
>

export const sprintHandlers = (fleet: Fleet): SprintRoute => ({
  ...commandHandlers(fleet),
  ...questionHandlers(fleet),
  ...sprintReadHandlers(fleet),
})

const commandHandlers = (
  fleet: Fleet,
): Pick<
  SprintRoute,
  'startSprint' | 'pauseSprint' | 'resumeSprint' | 'stopSprint' | 'answerSprint' | 'tellSprint' | 'withdrawMessage'
> => ({
  startSprint: async ({ ids, body, who }) => showSprint(await startSprint(fleet, ids.agentId, body, toRequester(who))),
  pauseSprint: async ({ ids, body, who }) =>
    showSprint(await pauseSprint(fleet, ids.sprintId, body.when, toRequester(who))),
  resumeSprint: async ({ ids, body }) => showSprint(await resumeSprint(fleet, ids.sprintId, body)),
  stopSprint: async ({ ids, body, who }) =>
    showSprint(await stopSprint(fleet, ids.sprintId, body.when, toRequester(who))),
  answerSprint: async ({ ids, body, who }) =>
    showSprint(await answerSprint(fleet, ids.sprintId, body, toRequester(who))),
  tellSprint: async ({ ids, body, who }) =>
    showSprint(await messageSprint(fleet, ids.sprintId, body, toRequester(who))),
  withdrawMessage: async ({ ids, body, who }) =>
    showSprint(await withdrawMessage(fleet, ids.sprintId, body.at, toRequester(who))),
})

const questionHandlers = (fleet: Fleet): Pick<SprintRoute, 'listQuestions' | 'dismissQuestion'> => ({
  listQuestions: ({ query, who }) => listQuestions(fleet.database.db, toViewer(who), query),
  dismissQuestion: async ({ ids }) => {
    await dismissQuestion(fleet, ids.questionId)
    const question = await findQuestion(fleet.database.db, ids.questionId)
    if (!question) throw sprintNotFound()
    return question
  },
})

const sprintReadHandlers = (
  fleet: Fleet,
): Pick<
  SprintRoute,
  'listSprints' | 'getSprint' | 'listIterations' | 'listEvents' | 'outlineSprint' | 'readOutput' | 'usage'
> => {
  const { db } = fleet.database
  return {
    listSprints: ({ query, who }) => listSprintPage(db, toViewer(who), query),
    getSprint: ({ ids }) => getSprint(db, ids.sprintId),
    listIterations: ({ ids, query }) => listIterations(db, ids.sprintId, query),
    listEvents: ({ ids, query }) => listEvents(db, ids, query),
    outlineSprint: ({ ids }) => readOutline(db, ids.sprintId),
    usage: ({ query, who }) =>
      readUsage(db, toViewer(who), { days: query.days, today: formatTimestamp(fleet.clock.now()).slice(0, 10) }),
    readOutput: async ({ ids, query: { offset } }) => {
      const [row] = await db
        .select()
        .from(events)
        .where(eq(events.id, Number(ids.eventId)))
      if (!row || row.sprintId !== ids.sprintId || row.clipped === null || row.agentId === null) throw sprintNotFound()
      const machineId = await findSprintMachine(fleet, ids.sprintId)
      const options = {
        agentId: row.agentId,
        area: 'agent',
        path: row.clipped,
        offset,
        length: outputChunkBytes,
      } as const
      const { size, base64 } = await fleet.machines.ask(machineId, 'read-file', options)
      const bytes = Buffer.from(base64, 'base64')
      const next = offset + bytes.length
      return { text: bytes.toString(), size, ...(next < size && { next }) }
    },
  }
}

const outputChunkBytes = 256 * 1024

const sprintNotFound = () => new RalphError('NOT_FOUND', 'not found, or you have no access')

async function findSprintMachine({ database: { db } }: Fleet, sprintId: string): Promise<string> {
  const [row] = await db
    .select({ machineId: agents.machineId })
    .from(sprints)
    .innerJoin(agents, eq(agents.id, sprints.agentId))
    .where(eq(sprints.id, sprintId))
  if (!row) throw sprintNotFound()
  return row.machineId
}
