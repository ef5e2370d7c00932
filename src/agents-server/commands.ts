import { encodeReply } from '../channel/message.ts'
import { RalphError } from '../contract/errors.ts'
import type { KeptRequest, RequestBody, RequestReply } from '../contract/fleet/channel.ts'
import { openWorkspace, restore } from '../storage/git/workspace.ts'
import { sprintFolder } from './agent-ports.ts'
import type { LocalAgent, LocalAgents } from './agents.ts'
import type { Jobs } from './jobs.ts'
import { removeLock, setUpNotes } from './notes.ts'

export type CommandParts = {
  readonly agents: LocalAgents
  readonly jobs: Jobs
  readonly version: string
  readonly now: () => number
  readonly changed: () => void
  readonly install: (version: string) => Promise<void>
}

/** Durable requests that are answered by a reply. */
export type Command = Exclude<KeptRequest, 'prompt' | 'carry-out'>

type Commands = { readonly [T in Command]: (body: RequestBody<T>) => Promise<RequestReply<T>> }

const success = { success: true } as const

/** Every command is idempotent: it may run twice if the daemon is killed before its reply is stored. */
export function commandsOf(parts: CommandParts): Commands {
  const { agents, jobs, now } = parts
  return {
    'create-workspace': async ({ agentId, name, workspace, from }) => {
      const { folder } = await agents.create({ agentId, name, workspace }, from)
      parts.changed()
      return { ...success, folder }
    },
    'archive-workspace': async ({ agentId }) => {
      jobs.interrupt({ agentId, when: 'now' })
      await agents.archive(agentId)
      parts.changed()
      return success
    },
    interrupt: async (body) => ({ ...success, interrupted: jobs.interrupt(body) }),
    reset: async ({ agentId }) => {
      const conversationId = await agents.ready(agentId).conversations.reset()
      return { ...success, ...(conversationId !== undefined && { conversationId }) }
    },
    'ralph-mode-setup': async ({ agentId, taskDescription }) => {
      const { notes } = agents.ready(agentId)
      await setUpNotes(notes, taskDescription, now())
      return { ...success, directory: notes }
    },
    'ralph-mode-end': async ({ agentId }) => {
      await removeLock(agents.ready(agentId).notes)
      return success
    },
    checkpoint: async ({ agentId, sprintId, iteration, message }) => {
      const agent = agents.ready(agentId)
      const commit = await (await openWorkspace(placeOf(agent, sprintId))).checkpoint(iteration, message)
      return { ...success, ...(commit !== undefined && { commit }) }
    },
    restore: async ({ agentId, sprintId, iteration }) => {
      if (jobs.of(agentId).some(({ startedAt }) => startedAt !== undefined)) {
        throw new RalphError('AGENT_BUSY', 'the agent is running; restore would change files under it')
      }
      return { ...success, saved: await restore(placeOf(agents.ready(agentId), sprintId), iteration, now()) }
    },
    update: async ({ version }) => {
      if (version !== parts.version) await parts.install(version)
      return success
    },
  }
}

export async function carryOutCommand<T extends Command>(
  commands: Commands,
  type: T,
  body: RequestBody<T>,
): Promise<unknown> {
  return encodeReply(type, await commands[type](body))
}

/** Checkpoints are keyed by the sprint's id. */
const placeOf = (agent: LocalAgent, sprintId: string) => ({
  project: agent.folder,
  sprintDir: sprintFolder(agent, sprintId),
  sprintId,
})
