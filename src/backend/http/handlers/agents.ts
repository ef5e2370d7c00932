import { eq } from 'drizzle-orm'
import { RalphError } from '../../../contract/errors.ts'
import { doneResponse } from '../../../contract/fleet/page.ts'
import { agents, type AgentRow } from '../../database/agent.ts'
import { archiveAgent, createAgentOrRefuse, resetAgent } from '../../agents/agents.ts'
import { recordRowChanges } from '../../feed/event-log.ts'
import {
  assertProgramGranted,
  assertWorkspaceGranted,
  createMachineFilter,
  readMachineRights,
} from '../../fleet/machine-rights.ts'
import { chooseMachine, defaultAccount } from '../../machines/placement.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import { cancelPrompt, interruptAgent, movePrompt, enqueuePrompt } from '../../prompts/prompts.ts'
import { startRalphMode, stopRalphMode } from '../../sprints/ralph-mode.ts'
import { readEstimate, listAgents, listConversations, listPrompts, listSharedRows } from '../../views/agents.ts'
import { listEvents } from '../../views/sprints.ts'
import { showAgent, showPrompt } from '../../views/show.ts'
import type { RouteHandlers } from '../calls/call.ts'
import { toRequester, toViewer } from './caller-views.ts'
import { agentTransaction, notFoundError, updateAgent } from '../../fleet/transaction.ts'

/** Another program has another usage limit, unless the user has named an account. */
const changedAccount = ({ account, program, machineId }: AgentRow, next: string): string =>
  account === defaultAccount(program, machineId) ? defaultAccount(next, machineId) : account

type ManagementRoute = Pick<RouteHandlers, 'listAgents' | 'createAgent' | 'getAgent' | 'changeAgent' | 'archiveAgent'>
type WorkRoute = Pick<
  RouteHandlers,
  | 'startRalphMode'
  | 'stopRalphMode'
  | 'interruptAgent'
  | 'resetAgent'
  | 'listPrompts'
  | 'listPromptEvents'
  | 'queuePrompt'
  | 'cancelPrompt'
  | 'movePrompt'
>
type ReadRoute = Pick<RouteHandlers, 'listConversations' | 'listNotes' | 'detectChecks' | 'estimate'>

export const agentHandlers = (fleet: Fleet): ManagementRoute & WorkRoute & ReadRoute => ({
  ...managementHandlers(fleet),
  ...workHandlers(fleet),
  ...readHandlers(fleet),
})

const agentAccessError = () => new RalphError('NOT_FOUND', 'not found, or you have no access')

const managementHandlers = (fleet: Fleet): ManagementRoute => {
  const { db } = fleet.database
  const now = () => fleet.clock.now()
  return {
    listAgents: ({ query, who }) => listAgents(db, toViewer(who), query, now()),
    createAgent: async ({ body: { labels = [], machineId, program = 'claude', ...fields }, who }) => {
      const { workspace } = fields
      const isAllowed = await createMachineFilter(db, who.user, { program, workspace })
      const place = machineId ?? (await chooseMachine(fleet, { program, labels, isAllowed })).id
      const rights = await readMachineRights(db, who.user, place)
      if (!rights) throw notFoundError('machine')
      assertProgramGranted(rights, program)
      assertWorkspaceGranted(rights, workspace)
      const options = { ...fields, program, labels, machineId: place, within: rights.roots }
      return showAgent(await createAgentOrRefuse(fleet, options, toRequester(who)))
    },
    getAgent: async ({ ids, level = 'read' }) => {
      const row = (await listSharedRows(db, [ids.agentId], now())).get(ids.agentId)
      if (!row) throw agentAccessError()
      return { ...row, access: level }
    },
    changeAgent: ({ ids: { agentId }, body: { name, program, model }, who }) =>
      agentTransaction(fleet, agentId, async (t) => {
        if (program !== undefined)
          assertProgramGranted(await readMachineRights(t.tx.db, who.user, t.agent.machineId), program)
        const fields = {
          ...(name !== undefined && { name }),
          ...(program !== undefined && { program, account: changedAccount(t.agent, program) }),
          ...(model !== undefined && { model }),
        }
        if (Object.keys(fields).length > 0) await updateAgent(t, fields)
        await recordRowChanges(t, { kind: 'agent', agentId })
        return showAgent(t.agent)
      }),
    archiveAgent: async ({ ids }) => showAgent(await archiveAgent(fleet, ids.agentId)),
  }
}

const workHandlers = (fleet: Fleet): WorkRoute => ({
  startRalphMode: async ({ ids, body, who }) => {
    const { agent, sprintId } = await startRalphMode(fleet, ids.agentId, body, toRequester(who))
    return { success: true, agent: showAgent(agent), sprintId }
  },
  stopRalphMode: async ({ ids, body, who }) => ({
    success: true,
    agent: showAgent(await stopRalphMode(fleet, ids.agentId, body.when, toRequester(who))),
  }),
  interruptAgent: async ({ ids }) => {
    await interruptAgent(fleet, ids.agentId)
    return doneResponse
  },
  resetAgent: async ({ ids }) => {
    await resetAgent(fleet, ids.agentId)
    return doneResponse
  },
  listPrompts: ({ ids, query }) => listPrompts(fleet.database.db, ids.agentId, query),
  listPromptEvents: ({ ids, query }) => listEvents(fleet.database.db, ids, query),
  queuePrompt: async ({ ids, body, who }) =>
    showPrompt(await enqueuePrompt(fleet, ids.agentId, body, toRequester(who))),
  cancelPrompt: async ({ ids }) => showPrompt(await cancelPrompt(fleet, ids.agentId, ids.promptId)),
  movePrompt: async ({ ids, body }) => showPrompt(await movePrompt(fleet, ids.agentId, ids.promptId, body.before)),
})

const readHandlers = (fleet: Fleet): ReadRoute => {
  const { db } = fleet.database
  const readMachineId = async (agentId: string): Promise<string> => {
    const [row] = await db.select({ id: agents.machineId }).from(agents).where(eq(agents.id, agentId))
    if (!row) throw agentAccessError()
    return row.id
  }
  /** Undefined without a notes folder, where a missing lock means nothing. */
  const readLock = (machineId: string, agentId: string): Promise<boolean | undefined> =>
    fleet.machines.ask(machineId, 'ralph-mode-check-lock', { agentId }).then(
      ({ exists }) => exists,
      (error: unknown) => {
        if (error instanceof RalphError && error.code === 'FILE_UNREADABLE') return undefined
        throw error
      },
    )
  return {
    listConversations: ({ ids, query }) => listConversations(db, ids.agentId, query),
    estimate: ({ ids }) => readEstimate(db, ids.agentId),
    listNotes: async ({ ids: { agentId } }) => {
      const machineId = await readMachineId(agentId)
      const { directory, files } = await fleet.machines.ask(machineId, 'notes', { agentId })
      const notes = files.map(({ name, text = '', updatedAt }) => ({ name, text, updatedAt }))
      const lock = await readLock(machineId, agentId)
      if (lock === undefined && notes.length === 0) throw new RalphError('NOT_FOUND', 'this agent has no notes')
      return { folder: directory, ...(lock !== undefined && { lock }), notes }
    },
    detectChecks: async ({ ids: { agentId } }) => {
      const { checks } = await fleet.machines.ask(await readMachineId(agentId), 'detect-checks', { agentId })
      return { items: checks.map(({ name, run }) => ({ name: name ?? run, run })) }
    },
  }
}
