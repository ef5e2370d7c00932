import { basename } from 'node:path'
import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import type { Io } from '../io/io.ts'
import { displayPath } from '../io/display-path.ts'
import { findSprint, listSprintFolders } from '../sprint/find-sprint.ts'
import { startInBackground } from '../run/start-in-background.ts'
import { createGoalSprint } from '../sprint/new-sprint.ts'
import { answerQuestion, requestStop, sendMessage } from '../sprint/requests.ts'
import { loadProgress, requireProgress } from '../sprint/sprint-state.ts'
import { summarizeSprintRow, summarizeSprint } from './sprint-summary.ts'
import { defineTool, type McpTool } from './tool.ts'

const sprint = z.string().min(1).describe('the name of the sprint, the beginning of its name, or its folder')

/** Tools for the user's own assistant: the sprints of the project that the server was started in. */
export const createUserTools = (io: Io): McpTool[] => [
  defineTool({
    name: 'list_sprints',
    description: 'Lists the sprints of this project with their status.',
    input: z.object({}),
    run: () => listProjectSprints(io),
  }),
  defineTool({
    name: 'status',
    description: 'Shows the status of a sprint: steps, last iterations with their checks, cost, the open question.',
    input: z.object({ sprint }),
    async run(args) {
      const { sprintDir: dir } = await findSprint(args.sprint, io)
      return summarizeSprint(await requireProgress(dir, io), {
        folder: displayPath(dir, io),
        owner: readSprintOwner(dir),
      })
    },
  }),
  createStartTool(io),
  defineTool({
    name: 'answer',
    description: 'Answers the open question of a sprint. Start the sprint again to resume it.',
    input: z.object({ sprint, answer: z.string().min(1) }),
    async run({ answer, ...target }) {
      return answerQuestion(await findSprint(target.sprint, io), answer, io)
    },
  }),
  defineTool({
    name: 'tell',
    description: 'Sends the agent of a sprint a message, with the prompt of the next iteration or at once.',
    input: z.object({ sprint, text: z.string().min(1), now: z.boolean().default(false) }),
    async run({ text, now, ...target }) {
      return { told: text, now: await sendMessage(await findSprint(target.sprint, io), { text, now }, io) }
    },
  }),
  defineTool({
    name: 'stop',
    description: 'Stops or pauses a running sprint. It can be started again.',
    input: z.object({
      sprint,
      when: z.enum(['after-iteration', 'after-turn', 'now']).default('after-iteration'),
      pause: z.boolean().default(false).describe('leave the sprint paused instead of interrupted'),
    }),
    async run({ when: flag, pause, ...target }) {
      const as = pause ? 'paused' : 'interrupted'
      const when = stopMoments[flag]
      await requestStop(await findSprint(target.sprint, io), { as, when }, io)
      return { requested: as, when }
    },
  }),
]

const stopMoments = { 'after-iteration': 'iteration', 'after-turn': 'turn', now: 'now' } as const

const startInput = z.object({
  sprint: sprint.optional(),
  goal: z.string().min(1).optional().describe('creates a new sprint for this goal'),
  agent: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  maxIterations: z.int().positive().optional(),
  budgetUsd: z.number().positive().optional(),
  maxDuration: z.string().min(1).optional().describe('such as 30m or 2h'),
})

const createStartTool = (io: Io): McpTool =>
  defineTool({
    name: 'start',
    description: 'Starts or resumes a sprint in the background. Give a goal for a new sprint, or an existing sprint.',
    input: startInput,
    run: (args) => startSprintInBackground(args, io),
  })

async function startSprintInBackground(args: z.output<typeof startInput>, io: Io) {
  const dir = await resolveSprintToStart(args, io)
  const { agent, model, maxDuration, maxIterations, budgetUsd } = args
  const limits = { 'max-duration': maxDuration, 'max-iterations': maxIterations, 'budget-usd': budgetUsd }
  return startInBackground(dir, { agent, model, ...limits }, io)
}

async function resolveSprintToStart(
  { sprint: name, goal, agent, ...limits }: z.output<typeof startInput>,
  io: Io,
): Promise<string> {
  const error = new RalphError('USAGE', 'start: missing sprint or goal')
  if (name !== undefined && goal !== undefined) throw error
  if (name !== undefined) return (await findSprint(name, io)).sprintDir
  if (goal === undefined) throw error
  return createGoalSprint(
    {
      goal,
      agent,
      limits: {
        iterations: limits.maxIterations?.toString(),
        usd: limits.budgetUsd?.toString(),
        duration: limits.maxDuration,
      },
    },
    io,
  )
}

async function listProjectSprints(io: Io) {
  const found = (await listSprintFolders(io)).map(async (dir) => {
    const progress = await loadProgress(dir)
    const shown = { folder: displayPath(dir, io), owner: readSprintOwner(dir) }
    return progress
      ? summarizeSprintRow(progress, shown)
      : { folder: shown.folder, sprintId: basename(dir), status: 'not compiled' }
  })
  return { sprints: await Promise.all(found) }
}
