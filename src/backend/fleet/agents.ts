import { and, eq, inArray, isNull, lt } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import type { Workspace } from '../../contract/fleet/agent.ts'
import { agents, conversations, type AgentRow } from '../database/agent.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { access } from '../database/user.ts'
import { machines } from '../database/machine.ts'
import { announce } from './announce.ts'
import { interrupt } from './give-orders.ts'
import { accountOn } from './place.ts'
import type { Asker, Fleet } from './ports.ts'
import { lockAgent, notFound, runningPrompt, sprintIn } from './rows.ts'
import { stop } from './sprints.ts'

export type NewAgent = {
  readonly name: string
  readonly machineId: string
  readonly workspace: Workspace
  readonly program: string
  readonly model?: string | undefined
  /** Agents of the same account share a usage limit; by default one account per program and machine. */
  readonly account?: string | undefined
  /** Labels that a machine needs to run this agent. */
  readonly labels?: readonly string[] | undefined
}

/**
 * Inserts the agent as `creating` and has the machine create its workspace; then it is `idle`, or `failed` with the
 * reason.
 */
export async function createAgent(fleet: Fleet, wanted: NewAgent, by: Asker): Promise<AgentRow> {
  const id = fleet.newId()
  const { name, machineId, workspace, program, model = null, labels = [] } = wanted
  const { account = accountOn(program, machineId) } = wanted
  await fleet.database.transaction(async (tx) => {
    const [machine] = await tx.db.select().from(machines).where(eq(machines.id, machineId))
    if (!machine) throw notFound('machine')
    if (machine.status !== 'active') throw new RalphError('NO_MACHINE', `the machine is ${machine.status}`)
    const row = { id, name, machineId, workspace, program, model, account, labels, createdAt: fleet.clock.now() }
    await tx.db.insert(agents).values({ ...row, state: 'creating' })
    if (by.userId !== undefined) await tx.db.insert(access).values({ agentId: id, userId: by.userId, level: 'owner' })
    await announce(fleet, tx, { kind: 'agent', agentId: id })
  })
  return makeWorkspace(fleet, { id, machineId, name, workspace })
}

type Unmade = Pick<AgentRow, 'id' | 'machineId' | 'name' | 'workspace'>

/** Idempotent: a repeated call finds the existing workspace. */
export async function makeWorkspace(fleet: Fleet, { id, machineId, name, workspace }: Unmade): Promise<AgentRow> {
  const failed = await fleet.machines
    .ask(machineId, 'create-workspace', { agentId: id, name, workspace })
    .then(() => undefined, reasonOf)
  return setState(
    fleet,
    id,
    failed === undefined ? { state: 'idle', reason: null } : { state: 'failed', reason: failed },
  )
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const setState = (
  fleet: Fleet,
  agentId: string,
  fields: Pick<AgentRow, 'state' | 'reason'>,
): Promise<AgentRow> =>
  fleet.database.transaction(async (tx) => {
    const agent = await lockAgent(tx, agentId)
    await tx.db.update(agents).set(fields).where(eq(agents.id, agentId))
    await announce(fleet, tx, { kind: 'agent', agentId })
    return { ...agent, ...fields }
  })

const makingMs = 600_000

/** Fails agents in `creating` whose creator has died. */
export async function failUnmade(fleet: Fleet): Promise<void> {
  const { database, clock } = fleet
  const isLate = and(eq(agents.state, 'creating'), lt(agents.createdAt, clock.now() - makingMs))
  const late = await database.db.select({ id: agents.id }).from(agents).where(isLate).limit(100)
  for (const { id } of late) await setState(fleet, id, { state: 'failed', reason: 'its workspace was never created' })
}

/** Stops the agent and hides it. The machine archives its workspace. */
export const archiveAgent = (fleet: Fleet, agentId: string): Promise<AgentRow> =>
  fleet.database.transaction(async (tx) => {
    const agent = await lockAgent(tx, agentId)
    if (agent.state === 'archived') return agent
    if (agent.sprintId !== null) {
      const sprint = await sprintIn(tx, agent.sprintId)
      if (!sprint.observed) await stop(fleet, tx, { agent, sprint }, { as: 'interrupted', when: 'now' })
    }
    const running = await runningPrompt(tx, agentId)
    if (running && running.sprintId === null) await interrupt(fleet, tx, agent, running.id)
    const waiting = and(eq(agentPrompts.agentId, agentId), inArray(agentPrompts.status, ['queued', 'parked']))
    await tx.db.update(agentPrompts).set({ status: 'cancelled', endedAt: fleet.clock.now() }).where(waiting)
    const fields = { state: 'archived' as const, archivedAt: fleet.clock.now(), inRalphMode: false }
    await tx.db.update(agents).set(fields).where(eq(agents.id, agentId))
    const request = { id: `archive:${agentId}`, type: 'archive-workspace' as const, body: { agentId } }
    await fleet.machines.send(tx, agent.machineId, request)
    await announce(fleet, tx, { kind: 'agent-gone', agentId })
    return { ...agent, ...fields }
  })

/** Archives the conversation; the next prompt starts with a fresh context. */
export const resetAgent = (fleet: Fleet, agentId: string): Promise<void> =>
  fleet.database.transaction(async (tx) => {
    const agent = await lockAgent(tx, agentId)
    const open = and(eq(conversations.agentId, agentId), isNull(conversations.endedAt))
    await tx.db.update(conversations).set({ endedAt: fleet.clock.now() }).where(open)
    await tx.db.update(agents).set({ inConversation: false }).where(eq(agents.id, agentId))
    await fleet.machines.send(tx, agent.machineId, { id: `reset:${fleet.newId()}`, type: 'reset', body: { agentId } })
    await announce(fleet, tx, { kind: 'agent', agentId })
  })
