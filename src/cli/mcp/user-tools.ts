import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'
import { startDetached, type DetachedProcess } from '../../platform/processes/detached-process.ts'
import { isFolder, listFolder, readTail } from '../../platform/files/files.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import type { Io } from '../io/io.ts'
import { displayPath } from '../io/display-path.ts'
import { createGoalSprint } from '../sprint/new-sprint.ts'
import { answerQuestion, requestStop, sendMessage } from '../sprint/requests.ts'
import { loadProgress, requireProgress } from '../sprint/sprint-state.ts'
import { summarizeSprintRow, summarizeSprint } from './sprint-summary.ts'
import { defineTool, type McpTool } from './tool.ts'

const sprint = z.string().min(1).describe('the folder of the sprint, or its name in .claude/sprints')

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
    async run(given) {
      const dir = findSprintFolder(given.sprint, io)
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
    async run({ answer, ...given }) {
      const question = await answerQuestion(nameSprint(given.sprint, io), answer, io)
      return { question, answer }
    },
  }),
  defineTool({
    name: 'tell',
    description: 'Sends the agent of a sprint a message, with the prompt of the next iteration or at once.',
    input: z.object({ sprint, text: z.string().min(1), now: z.boolean().default(false) }),
    async run({ text, now, ...given }) {
      return { told: text, now: await sendMessage(nameSprint(given.sprint, io), { text, now }, io) }
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
    async run({ when: flag, pause, ...given }) {
      const as = pause ? 'paused' : 'interrupted'
      const when = stopMoments[flag]
      await requestStop(nameSprint(given.sprint, io), { as, when }, io)
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
    run: (given) => startSprintInBackground(given, io),
  })

const startTimeoutMs = 10_000

/** Returns as soon as the sprint is running or has already ended. */
async function startSprintInBackground(given: z.output<typeof startInput>, io: Io) {
  const dir = await resolveSprintToStart(given, io)
  const owner = readSprintOwner(dir)
  if (owner !== undefined) throw new RalphError('SPRINT_LOCKED', `the sprint is running (${owner})`)
  const log = join(dir, 'run.log')
  const options = { agent: given.agent, model: given.model, 'max-duration': given.maxDuration }
  const limits = { 'max-iterations': given.maxIterations, 'budget-usd': given.budgetUsd }
  const flags = Object.entries({ ...options, ...limits }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  )
  const [, program = ''] = process.argv
  const args = [program, 'run', '--plain', ...flags, '--', dir]
  const run = await startDetached({ file: process.execPath, args, cwd: io.cwd, env: io.env, log })
  await waitUntilStarted(run, dir)
  const exitCode = run.exitCode()
  const folder = displayPath(dir, io)
  if (exitCode === undefined) return { folder, running: true, pid: run.pid, log: displayPath(log, io) }
  return { folder, running: false, exitCode, output: await readTail(log, 2000) }
}

async function waitUntilStarted(run: DetachedProcess, dir: string): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  while (run.exitCode() === undefined && readSprintOwner(dir) === undefined && performance.now() < deadline)
    await sleep(50)
}

async function resolveSprintToStart(
  { sprint: name, goal, agent }: z.output<typeof startInput>,
  io: Io,
): Promise<string> {
  const error = new RalphError('USAGE', 'start: missing sprint or goal')
  if (name !== undefined && goal !== undefined) throw error
  if (name !== undefined) return findSprintFolder(name, io)
  if (goal === undefined) throw error
  return createGoalSprint({ goal, agent }, io)
}

async function listProjectSprints(io: Io) {
  const folder = join(io.cwd, '.claude', 'sprints')
  const dirs = (await listFolder(folder)).map((name) => join(folder, name)).filter((dir) => isFolder(dir))
  const found = dirs.toSorted().map(async (dir) => {
    const progress = await loadProgress(dir)
    const shown = { folder: displayPath(dir, io), owner: readSprintOwner(dir) }
    return progress
      ? summarizeSprintRow(progress, shown)
      : { folder: shown.folder, sprintId: basename(dir), status: 'not compiled' }
  })
  return { sprints: await Promise.all(found) }
}

function findSprintFolder(given: string, io: Io): string {
  const named = join(io.cwd, '.claude', 'sprints', given)
  return openSprintFolder(isFolder(named) ? named : resolve(io.cwd, given))
}

const nameSprint = (given: string, io: Io) => {
  const sprintDir = findSprintFolder(given, io)
  return { sprintDir, given: sprintDir }
}
