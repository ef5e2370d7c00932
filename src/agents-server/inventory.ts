import { errorMessage } from '../contract/errors.ts'
import { hostname } from 'node:os'
import { z } from 'zod'
import type { Inventory, InventoryAgent } from '../contract/fleet/machine-messages.ts'
import type { InstalledProgram } from '../contract/fleet/machine.ts'
import { diskSpace } from '../platform/files/files.ts'
import type { LocalAgent, LocalAgents } from './local-agents.ts'
import type { IncomingMessage } from './disk-mailbox.ts'
import type { Jobs } from './jobs.ts'

/** How a machine presents itself. */
export type MachineSettings = {
  readonly name: string
  readonly labels: readonly string[]
  /** Folders that workspaces may be in. */
  readonly roots: readonly string[]
  /** Maximum number of prompts at once. */
  readonly slots: number
  /** Where agents keep their notes; `{agent}` is replaced by the agent's name. */
  readonly notes: string
  /**
   * The command that installs another version of Ralph when the backend asks for it, with `{version}` in it. Absent:
   * updates are refused.
   */
  readonly update?: string | undefined
  /** Users other than the owner may run agents here, if they have a grant. */
  readonly shared?: boolean | undefined
}

const defaultSlots = 4

export const defaultMachineSettings = (home: string, userHome: string): MachineSettings => ({
  name: hostname(),
  labels: [],
  roots: [userHome],
  slots: defaultSlots,
  notes: `${home}/notes/{agent}`,
})

export type InventoryParts = {
  readonly settings: MachineSettings
  readonly version: string
  readonly bootEpoch: number
  readonly agents: LocalAgents
  readonly jobs: Jobs
  readonly waiting: () => readonly IncomingMessage[]
  readonly home: string
  readonly programs: () => readonly InstalledProgram[] | undefined
}

export async function createInventory(parts: InventoryParts): Promise<Inventory> {
  const { settings, version, bootEpoch, agents } = parts
  const disk = await diskSpace(parts.home).catch(() => undefined)
  const programs = parts.programs()
  return {
    version,
    bootEpoch,
    platform: `${process.platform} ${process.arch}`,
    at: Date.now(),
    name: settings.name,
    labels: [...settings.labels],
    slots: settings.slots,
    roots: [...settings.roots],
    ...(disk && { diskFreeBytes: disk.freeBytes }),
    ...(programs && { programs: [...programs] }),
    agents: agents.all().map((agent) => agentInventory(agent, parts)),
    waiting: parts.waiting().length,
  }
}

function agentInventory(agent: LocalAgent, { agents, jobs, waiting }: InventoryParts): InventoryAgent {
  const { agentId, workspace, folder } = agent
  const mine = jobs.listForAgent(agentId)
  const reason = unavailableReason(agent, agents)
  const busy = mine.some(({ startedAt }) => startedAt !== undefined)
  const state = agent.archived ? 'archived' : reason === undefined ? (busy ? 'running' : 'idle') : 'failed'
  const under = mine.flatMap(({ promptId, startedAt }) =>
    promptId === undefined
      ? []
      : [{ promptId, running: startedAt !== undefined, ...(startedAt !== undefined && { startedAt }) }],
  )
  const ended = listEndedWork(agentId, waiting())
  return {
    agentId,
    state,
    workspace,
    folder,
    ...(reason !== undefined && !agent.archived && { reason }),
    prompts: [...under, ...ended.prompts.map((promptId) => ({ promptId, running: false }))],
    orders: [...mine.flatMap(({ orderId }) => orderId ?? []), ...ended.orders],
    lastEventSeq: agent.events.lastSeq(),
  }
}

/** Work that has ended here while the backend still lists it as running. */
function listEndedWork(agentId: string, waiting: readonly IncomingMessage[]) {
  const reports = waiting.flatMap(({ body }) => {
    const report = EndedMessage.safeParse(body)
    return report.success && report.data.agentId === agentId ? [report.data] : []
  })
  return {
    prompts: reports.flatMap(({ promptId }) => promptId ?? []),
    orders: reports.flatMap(({ orderId }) => orderId ?? []),
  }
}

const EndedMessage = z.object({ agentId: z.string(), promptId: z.string().optional(), orderId: z.string().optional() })

function unavailableReason({ agentId }: LocalAgent, agents: LocalAgents): string | undefined {
  try {
    agents.requireReady(agentId)
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}
