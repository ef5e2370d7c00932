import { join } from 'node:path'
import { z } from 'zod'
import { RalphError } from '../contract/errors.ts'
import { AgentWorkspace } from '../contract/fleet/agent.ts'
import { writeFileAtomic } from '../platform/files/atomic-file.ts'
import { exists, isFolder, listFolder, createFolder, readTextIfExists, realPath } from '../platform/files/files.ts'
import { openConversations, type ConversationStore } from './conversations.ts'
import { EventLog } from '../host/event-log.ts'
import { notesFolder } from './notes.ts'
import { restoreFromSnapshot } from './push-work.ts'
import { openAgentWorkspace, resolvePushAddress, removeAgentWorkspace, type WorkspacePlaces } from './workspaces.ts'

const AgentFile = z.object({
  agentId: z.uuid(),
  name: z.string(),
  workspace: AgentWorkspace,
  /** The agent's folder, with links resolved. */
  folder: z.string(),
  archived: z.boolean(),
  /** The commit taken over from another machine. */
  from: z.string().optional(),
})
type AgentFile = z.output<typeof AgentFile>

/** An agent on this machine: its workspace, and Ralph's own folder for it. */
export interface LocalAgent extends AgentFile {
  /** Ralph's own folder. */
  readonly home: string
  readonly notes: string
  readonly events: EventLog
  readonly conversations: ConversationStore
  /** Where its files are pushed to; throws WORKSPACE_REFUSED. */
  readonly pushAddress: () => string | undefined
}

export type TakeoverSource = { readonly sprintId: string; readonly commit: string }

export interface LocalAgents {
  readonly find: (agentId: string) => LocalAgent | undefined
  /** Throws WORKSPACE_NOT_FOUND if there is no such agent, or its folder is gone or has changed. */
  readonly requireReady: (agentId: string) => LocalAgent
  readonly all: () => readonly LocalAgent[]
  /** `from`: the snapshot that a lost machine has pushed. */
  readonly create: (
    made: Pick<AgentFile, 'agentId' | 'name' | 'workspace'> & Pick<WorkspacePlaces, 'within'>,
    from?: TakeoverSource,
  ) => Promise<LocalAgent>
  /** Another machine has taken the agent over: start nothing here, and keep the files. */
  readonly release: (agentId: string) => Promise<void>
  readonly archive: (agentId: string) => Promise<string | undefined>
  readonly onNew: (listener: (agent: LocalAgent) => void) => void
  readonly close: () => Promise<void>
}

export type AgentPlaces = WorkspacePlaces & {
  readonly agents: string
  /** `{agent}` is replaced by the agent's name. */
  readonly notes: string
}

export async function openAgents(places: AgentPlaces): Promise<LocalAgents> {
  const known = new Map<string, LocalAgent>()
  const newAgentListeners: ((agent: LocalAgent) => void)[] = []
  const open = async (file: AgentFile): Promise<LocalAgent> => {
    const home = join(places.agents, file.agentId)
    const before = known.get(file.agentId)
    const events = before?.events ?? (await EventLog.open(join(home, 'events')))
    const conversations = before?.conversations ?? (await openConversations(join(home, 'conversations.json')))
    const notes = notesFolder(places.notes, readableFolderName(file))
    const address = () => resolvePushAddress(file.workspace, places)
    const agent = { ...file, home, notes, events, conversations, pushAddress: address }
    known.set(file.agentId, agent)
    return agent
  }
  const save = async (file: AgentFile): Promise<LocalAgent> => {
    const home = join(places.agents, file.agentId)
    await createFolder(home)
    await writeFileAtomic(join(home, 'agent.json'), `${JSON.stringify(file, undefined, 2)}\n`)
    return open(file)
  }
  for (const name of await listFolder(places.agents)) {
    const file = AgentFile.safeParse(parseAgentFile(await readTextIfExists(join(places.agents, name, 'agent.json'))))
    if (file.success) await open(file.data)
  }
  return {
    find: (agentId) => known.get(agentId),
    requireReady: (agentId) => assertAgentReady(agentId, known.get(agentId)),
    all: () => [...known.values()],
    create: async ({ agentId, name, workspace, within }, from) => {
      const there = known.get(agentId)
      if (there && !there.archived && (!from || there.from === from.commit)) return there
      const folder = await openAgentWorkspace(agentId, workspace, { ...places, within })
      const file = { agentId, name, workspace, folder, archived: false, ...(from && { from: from.commit }) }
      if (from) await restoreFromSnapshot(await open(file), from)
      const agent = await save(file)
      for (const listener of newAgentListeners) listener(agent)
      return agent
    },
    release: async (agentId) => {
      const agent = known.get(agentId)
      if (!agent || agent.archived) return
      const { name, workspace, folder } = agent
      await save({ agentId, name, workspace, folder, archived: true })
    },
    archive: async (agentId) => {
      const agent = known.get(agentId)
      if (!agent || agent.archived) return undefined
      const kept = await removeAgentWorkspace(agentId, agent.workspace, places)
      const { name, workspace, folder } = agent
      await save({ agentId, name, workspace, folder, archived: true })
      return kept
    },
    onNew: (listener) => void newAgentListeners.push(listener),
    close: async () => {
      await Promise.all([...known.values()].map(({ events }) => events.close()))
    },
  }
}

function assertAgentReady(agentId: string, agent: LocalAgent | undefined): LocalAgent {
  if (!agent) throw new RalphError('WORKSPACE_NOT_FOUND', `this machine has no agent ${agentId}`)
  if (agent.archived) throw new RalphError('WORKSPACE_NOT_FOUND', 'the agent is archived')
  const { folder } = agent
  if (!exists(folder) || !isFolder(folder) || realPath(folder) !== folder) {
    throw new RalphError('WORKSPACE_NOT_FOUND', `the folder of the agent is gone or points elsewhere: ${folder}`)
  }
  return agent
}

/** A readable, unique folder name: the agent's name in plain characters, and part of its id. */
function readableFolderName({ name, agentId }: AgentFile): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40)
  return `${plain || 'agent'}-${agentId.slice(-8)}`
}

function parseAgentFile(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return undefined
  }
}
