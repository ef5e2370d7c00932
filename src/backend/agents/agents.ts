import { and, eq, inArray, isNull, lt } from 'drizzle-orm'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import type { AgentWorkspace } from '../../contract/fleet/agent.ts'
import { agents, conversations, type AgentRow } from '../database/agent.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { access } from '../database/user.ts'
import { machines } from '../database/machine.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { interruptPrompt } from '../sprints/orders.ts'
import { defaultAccount } from '../machines/placement.ts'
import type { Requester, Fleet } from '../fleet/fleet.ts'
import { applyStop } from '../sprints/sprints.ts'
import {
  agentTransaction,
  findRunningPrompt,
  notFoundError,
  readSprintRow,
  transaction,
  updateAgent,
} from '../fleet/transaction.ts'

export type NewAgentOptions = {
  readonly name: string
  readonly machineId: string
  readonly workspace: AgentWorkspace
  readonly program: string
  readonly model?: string | undefined
  /** Agents of the same account share a usage limit; by default one account per program and machine. */
  readonly account?: string | undefined
  /** Labels that a machine needs to run this agent. */
  readonly labels?: readonly string[] | undefined
  /** Folders that the workspace must be in, links resolved; absent: all that the machine allows. */
  readonly within?: readonly string[] | undefined
}

/**
 * Inserts the agent as `creating` and has the machine create its workspace; then it is `idle`, or `failed` with the
 * reason.
 */
export const createAgent = async (fleet: Fleet, options: NewAgentOptions, by: Requester): Promise<AgentRow> =>
  createWorkspace(fleet, await insertAgent(fleet, options, by))

async function insertAgent(fleet: Fleet, options: NewAgentOptions, by: Requester): Promise<PendingWorkspace> {
  const id = fleet.newId()
  const { name, machineId, workspace, program, model = null, labels = [] } = options
  const { account = defaultAccount(program, machineId) } = options
  await transaction(fleet, async (t) => {
    const [machine] = await t.tx.db.select().from(machines).where(eq(machines.id, machineId))
    if (!machine) throw notFoundError('machine')
    if (machine.status !== 'active') throw new RalphError('NO_MACHINE', `the machine is ${machine.status}`)
    const row = { id, name, machineId, workspace, program, model, account, labels, createdAt: fleet.clock.now() }
    await t.tx.db.insert(agents).values({ ...row, state: 'creating' })
    if (by.userId !== undefined) await t.tx.db.insert(access).values({ agentId: id, userId: by.userId, level: 'owner' })
    await recordRowChanges(t, { kind: 'agent', agentId: id })
  })
  return { id, machineId, name, workspace, within: options.within }
}

/** Like `createAgent`, but leaves no agent behind if the machine refuses the folder: a user corrects it and asks again. */
export async function createAgentOrRefuse(fleet: Fleet, options: NewAgentOptions, by: Requester): Promise<AgentRow> {
  const pending = await insertAgent(fleet, options, by)
  const problem = await askForWorkspace(fleet, pending)
  if (!(problem instanceof RalphError) || problem.code !== 'WORKSPACE_REFUSED')
    return endCreation(fleet, pending, problem)
  await transaction(fleet, async (t) => {
    await recordRowChanges(t, { kind: 'agent-gone', agentId: pending.id })
    await t.tx.db.delete(access).where(eq(access.agentId, pending.id))
    await t.tx.db.delete(agents).where(eq(agents.id, pending.id))
  })
  throw problem
}

type PendingWorkspace = Pick<AgentRow, 'id' | 'machineId' | 'name' | 'workspace'> & Pick<NewAgentOptions, 'within'>

/** Idempotent: a repeated call finds the existing workspace. */
export const createWorkspace = async (fleet: Fleet, pending: PendingWorkspace): Promise<AgentRow> =>
  endCreation(fleet, pending, await askForWorkspace(fleet, pending))

/** Resolves with the error, if there is one. */
const askForWorkspace = (
  { machines: line }: Fleet,
  { id, machineId, name, workspace, within }: PendingWorkspace,
): Promise<unknown> =>
  line
    .ask(machineId, 'create-workspace', { agentId: id, name, workspace, ...(within && { within: [...within] }) })
    .then(
      () => undefined,
      (error: unknown) => error,
    )

const endCreation = (fleet: Fleet, { id }: PendingWorkspace, problem: unknown): Promise<AgentRow> =>
  setAgentState(
    fleet,
    id,
    problem === undefined ? { state: 'idle', reason: null } : { state: 'failed', reason: errorMessage(problem) },
  )

export const setAgentState = (
  fleet: Fleet,
  agentId: string,
  fields: Pick<AgentRow, 'state' | 'reason'>,
): Promise<AgentRow> =>
  agentTransaction(fleet, agentId, async (t) => {
    await updateAgent(t, fields)
    await recordRowChanges(t, { kind: 'agent', agentId })
    return t.agent
  })

const creationTimeoutMs = 600_000

/** Fails agents in `creating` whose creator has died. */
export async function failStaleCreations(fleet: Fleet): Promise<void> {
  const { database, clock } = fleet
  const isLate = and(eq(agents.state, 'creating'), lt(agents.createdAt, clock.now() - creationTimeoutMs))
  const late = await database.db.select({ id: agents.id }).from(agents).where(isLate).limit(100)
  for (const { id } of late)
    await setAgentState(fleet, id, { state: 'failed', reason: 'its workspace was never created' })
}

/** Stops the agent and hides it. The machine archives its workspace. */
export const archiveAgent = (fleet: Fleet, agentId: string): Promise<AgentRow> =>
  agentTransaction(fleet, agentId, async (t) => {
    if (t.agent.state === 'archived') return t.agent
    if (t.agent.sprintId !== null) {
      const sprint = await readSprintRow(t, t.agent.sprintId)
      if (!sprint.observed) await applyStop(t, sprint, { as: 'interrupted', when: 'now' })
    }
    const running = await findRunningPrompt(t)
    if (running && running.sprintId === null) await interruptPrompt(t, running.id)
    const waiting = and(eq(agentPrompts.agentId, agentId), inArray(agentPrompts.status, ['queued', 'parked']))
    await t.tx.db.update(agentPrompts).set({ status: 'cancelled', endedAt: fleet.clock.now() }).where(waiting)
    const fields = { state: 'archived' as const, archivedAt: fleet.clock.now(), inRalphMode: false }
    await updateAgent(t, fields)
    const request = { id: `archive:${agentId}`, type: 'archive-workspace' as const, body: { agentId } }
    await fleet.machines.send(t.tx, t.agent.machineId, request)
    await recordRowChanges(t, { kind: 'agent-gone', agentId })
    return t.agent
  })

/** Archives the conversation; the next prompt starts with a fresh context. */
export const resetAgent = (fleet: Fleet, agentId: string): Promise<void> =>
  agentTransaction(fleet, agentId, async (t) => {
    const open = and(eq(conversations.agentId, agentId), isNull(conversations.endedAt))
    await t.tx.db.update(conversations).set({ endedAt: fleet.clock.now() }).where(open)
    await updateAgent(t, { inConversation: false })
    await fleet.machines.send(t.tx, t.agent.machineId, {
      id: `reset:${fleet.newId()}`,
      type: 'reset',
      body: { agentId },
    })
    await recordRowChanges(t, { kind: 'agent', agentId })
  })
