import { decodeRequest, encodeReply, isRequestType } from '../connection/message.ts'
import { RalphError } from '../contract/errors.ts'
import type { DurableRequest, RequestBody, RequestReply } from '../contract/fleet/machine-messages.ts'
import type { HostEnvironment } from '../host/create-ports.ts'
import { finishSprint } from '../host/finish-sprint.ts'
import { restoreFiles } from '../storage/git/restore.ts'
import { openWorkspace } from '../storage/git/workspace.ts'
import { agentSprintFolder } from './agent-ports.ts'
import type { IncomingMessage } from './disk-mailbox.ts'
import type { LocalAgent, LocalAgents } from './local-agents.ts'
import type { Jobs } from './jobs.ts'
import { removeLock, prepareNotes } from './notes.ts'
import { interruptedUpdateError } from './updates.ts'

export type CommandParts = {
  readonly agents: LocalAgents
  readonly jobs: Jobs
  readonly version: string
  readonly env: HostEnvironment
  readonly now: () => number
  readonly changed: () => void
  /** Notes of another program that new agents start with. */
  readonly earlierNotes?: string | undefined
  readonly install: (version: string) => Promise<void>
}

/** Durable requests that are answered by a reply. */
type MachineCommand = Exclude<DurableRequest, 'prompt' | 'carry-out'>

type MachineCommands = { readonly [T in MachineCommand]: (body: RequestBody<T>) => Promise<RequestReply<T>> }

const success = { success: true } as const

/** `again`: the message was stored before this process started. */
export type MessageTurn = 'now' | 'again'

type RunCommand = (message: Omit<IncomingMessage, 'id'>, when: MessageTurn) => Promise<unknown>

/** Returns a function that runs the command of a message and returns its encoded reply. */
export function createCommandRunner(parts: CommandParts): RunCommand {
  const commands = createMachineCommands(parts)
  return async ({ type, body }, when) => {
    if (!isRequestType(type) || !Object.hasOwn(commands, type)) {
      throw new RalphError('VERSION_UNKNOWN', `this machine does not support the request "${type}"`)
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the line above has found it among the commands
    const command = type as MachineCommand
    const request = decodeRequest(command, body)
    if (when === 'again' && 'version' in request && request.version !== parts.version)
      throw interruptedUpdateError('it was interrupted')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a command takes what its own request decodes to
    const run = commands[command] as (body: unknown) => Promise<RequestReply<MachineCommand>>
    return encodeReply(command, await run(request))
  }
}

/** Every command is idempotent: it may run twice if the daemon is killed before its reply is stored. */
function createMachineCommands(parts: CommandParts): MachineCommands {
  const { agents, jobs, now } = parts
  return {
    'create-workspace': async ({ agentId, name, workspace, within, from }) => {
      const { folder } = await agents.create({ agentId, name, workspace, within }, from)
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
      const conversationId = await agents.requireReady(agentId).conversations.reset()
      return { ...success, ...(conversationId !== undefined && { conversationId }) }
    },
    'ralph-mode-setup': async ({ agentId, taskDescription }) => {
      const { notes } = agents.requireReady(agentId)
      await prepareNotes(notes, taskDescription, now(), parts.earlierNotes)
      return { ...success, directory: notes }
    },
    'ralph-mode-end': async ({ agentId }) => {
      await removeLock(agents.requireReady(agentId).notes)
      return success
    },
    checkpoint: async ({ agentId, sprintId, iteration, message }) => {
      const agent = agents.requireReady(agentId)
      const commit = await (await openWorkspace(checkpointPlace(agent, sprintId))).checkpoint(iteration, message)
      return { ...success, ...(commit !== undefined && { commit }) }
    },
    restore: async ({ agentId, sprintId, iteration }) => {
      refuseRunning(jobs, agentId)
      const place = checkpointPlace(agents.requireReady(agentId), sprintId)
      const { saved } = await restoreFiles(place, { iteration }, now())
      return { ...success, saved: saved[0] ?? '' }
    },
    finish: async ({ agentId, sprintId, message, branch, author }) => {
      refuseRunning(jobs, agentId)
      const place = checkpointPlace(agents.requireReady(agentId), sprintId)
      return { ...success, ...(await finishSprint(place, { message, branch, author, env: parts.env })) }
    },
    update: async ({ version }) => {
      if (version !== parts.version) await parts.install(version)
      return success
    },
  }
}

function refuseRunning(jobs: Jobs, agentId: string): void {
  if (jobs.listForAgent(agentId).every(({ startedAt }) => startedAt === undefined)) return
  throw new RalphError('AGENT_BUSY', 'the agent is changing these files right now', { hint: 'pause the sprint first' })
}

/** Checkpoints are keyed by the sprint's id. */
export const checkpointPlace = (agent: LocalAgent, sprintId: string) => ({
  project: agent.folder,
  sprintDir: agentSprintFolder(agent, sprintId),
  sprintId,
})
