import { eq } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import type { FinishedSprint, FinishPlan, FinishSprint, SprintDiff } from '../../contract/fleet/sprint.ts'
import type { User } from '../../contract/fleet/user.ts'
import { agents, type AgentRow } from '../database/agent.ts'
import { sprints, type SprintRow } from '../database/sprint.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { findRunningPrompt, notFoundError, sprintTransaction } from '../fleet/transaction.ts'
import { parsePatch } from '../views/patch.ts'
import { requireObserved } from './observed-sprints.ts'

const maxPatchLength = 2 * 1024 * 1024

type DiffQuery = { readonly from?: number | undefined; readonly to?: number | undefined }

/** The changes between two iterations; by default from the start until the newest one. */
export async function diffSprint(fleet: Fleet, sprintId: string, query: DiffQuery): Promise<SprintDiff> {
  const { sprint, agent } = await readSprintAgent(fleet, sprintId)
  const range = { from: query.from ?? 0, to: query.to ?? sprint.progress.stats.currentIteration }
  const patch = sprint.observed
    ? truncate(await requireObserved(fleet).diff(sprintId, range))
    : await fleet.machines.ask(agent.machineId, 'diff', { agentId: agent.id, sprintId, ...range })
  return showPatch({ from: `${range.from}`, to: `${range.to}` }, patch)
}

/** What a restore would change in the files as they are now. */
export async function previewRestore(fleet: Fleet, sprintId: string, iteration: number): Promise<SprintDiff> {
  const { sprint, agent } = await readSprintAgent(fleet, sprintId)
  const patch = sprint.observed
    ? truncate(await requireObserved(fleet).previewRestore(sprintId, iteration))
    : await fleet.machines.ask(agent.machineId, 'restore-preview', { agentId: agent.id, sprintId, iteration })
  return showPatch({ from: 'now', to: `${iteration}` }, patch)
}

/** Restores the files as they were after an iteration. The machine saves the current ones. */
export async function restoreSprint(fleet: Fleet, sprintId: string, iteration: number): Promise<{ saved: string }> {
  const agent = await refuseBusyAgent(fleet, sprintId)
  if (!agent) return { saved: await requireObserved(fleet).restore(sprintId, iteration) }
  const { saved } = await fleet.machines.ask(agent.machineId, 'restore', { agentId: agent.id, sprintId, iteration })
  return { saved }
}

export async function planFinish(fleet: Fleet, sprintId: string): Promise<FinishPlan> {
  const { sprint, agent } = await readSprintAgent(fleet, sprintId)
  if (sprint.observed) return requireObserved(fleet).planFinish(sprintId)
  const { repositories } = await fleet.machines.ask(agent.machineId, 'finish-plan', { agentId: agent.id, sprintId })
  return { repositories }
}

/** Commits the work of a sprint on its machine. The user is the author where git knows no identity. */
export async function finishSprint(
  fleet: Fleet,
  sprintId: string,
  { message, branch }: FinishSprint,
  { name, email }: Pick<User, 'name' | 'email'>,
): Promise<FinishedSprint> {
  const request = { message, ...(branch !== undefined && { branch }) }
  const agent = await refuseBusyAgent(fleet, sprintId)
  if (!agent) return requireObserved(fleet).finish(sprintId, request)
  const author = email === undefined ? {} : { author: { name, email } }
  const work = { agentId: agent.id, sprintId, ...request, ...author }
  const { commits } = await fleet.machines.ask(agent.machineId, 'finish', work)
  return { commits }
}

/** Undefined: `ralph run` controls the sprint. */
const refuseBusyAgent = (fleet: Fleet, sprintId: string): Promise<AgentRow | undefined> =>
  sprintTransaction(fleet, sprintId, async (t, sprint) => {
    if (sprint.observed) return undefined
    if (await findRunningPrompt(t))
      throw new RalphError('AGENT_BUSY', 'the agent is changing these files right now', {
        hint: 'pause the sprint first',
      })
    return t.agent
  })

async function readSprintAgent(
  { database: { db } }: Fleet,
  sprintId: string,
): Promise<{ readonly sprint: SprintRow; readonly agent: AgentRow }> {
  const [row] = await db
    .select({ sprint: sprints, agent: agents })
    .from(sprints)
    .innerJoin(agents, eq(agents.id, sprints.agentId))
    .where(eq(sprints.id, sprintId))
  if (!row) throw notFoundError('sprint')
  return row
}

type Patch = { readonly patch: string; readonly truncated: boolean }

const truncate = (patch: string): Patch => ({
  patch: patch.slice(0, maxPatchLength),
  truncated: patch.length > maxPatchLength,
})

const showPatch = (range: Pick<SprintDiff, 'from' | 'to'>, { patch, truncated }: Patch): SprintDiff => ({
  ...range,
  files: parsePatch(patch),
  truncated,
})
