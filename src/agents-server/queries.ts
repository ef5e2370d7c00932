import { join } from 'node:path'
import { userInfo } from 'node:os'
import { decodeRequest, encodeReply, isRequestType } from '../connection/message.ts'
import type { ReceivedMessage } from '../connection/session.ts'
import { RalphError } from '../contract/errors.ts'
import type { LiveRequest, RequestBody, RequestReply, RequestType } from '../contract/fleet/machine-messages.ts'
import type { Redact } from '../contract/secrets/redact.ts'
import { diskSpace, isFile, readTextIfExists, realPath } from '../platform/files/files.ts'
import { readRange } from '../platform/files/private-file.ts'
import type { AccountLimits } from '../runtime/ports.ts'
import { createProjectRedactor } from '../storage/accounts/secrets.ts'
import { diffIterations, previewRestore } from '../storage/git/restore.ts'
import type { HostEnvironment } from '../host/create-ports.ts'
import { findChecks } from '../host/find-checks.ts'
import { planFinish } from '../host/finish-sprint.ts'
import { checkpointPlace } from './commands.ts'
import type { LocalAgent, LocalAgents } from './local-agents.ts'
import type { Jobs } from './jobs.ts'
import { readReportedLock, readNotes } from './notes.ts'
import type { MachinePolicy } from './policy.ts'
import { inspectProgram } from './programs.ts'
import { isInsideFolder } from './workspaces.ts'

export type QueryParts = {
  readonly agents: LocalAgents
  readonly jobs: Jobs
  readonly home: string
  readonly env: HostEnvironment
  readonly limits: AccountLimits
  readonly policy?: MachinePolicy | undefined
}

type QueryHandlers = { readonly [T in LiveRequest]: (body: RequestBody<T>) => Promise<RequestReply<T>> }

const success = { success: true } as const
const maxPatchLength = 2 * 1024 * 1024
const maxWholeBytes = 16 * 1024 * 1024

/** Answers read-only queries of the backend. */
export function createQueryHandlers({ agents, jobs, home, env, limits, policy }: QueryParts): QueryHandlers {
  return {
    'ralph-mode-check-lock': async ({ agentId }) => {
      const lock = await readReportedLock(agents.requireReady(agentId).notes)
      if (lock.state === 'unreadable')
        throw new RalphError('FILE_UNREADABLE', `the notes cannot be read: ${lock.reason}`)
      return { ...success, exists: lock.state === 'present', lock }
    },
    'claude-state': async ({ agentId }) => {
      const { events } = agents.requireReady(agentId)
      const running = jobs.listForAgent(agentId).find(({ promptId }) => promptId !== undefined)
      const lastEventAt = events.lastAt()
      return {
        ...success,
        isReady: running === undefined,
        hasBlockingAutomation: jobs.listForAgent(agentId).some(({ orderId }) => orderId !== undefined),
        ...(running?.promptId !== undefined && { promptId: running.promptId }),
        ...(running?.startedAt !== undefined && { startedAt: running.startedAt }),
        ...(lastEventAt !== undefined && { lastEventAt }),
      }
    },
    'read-file': async (body) => ({
      ...success,
      ...(await readAgentFile(requireKnownAgent(agents, body.agentId), body, env)),
    }),
    diff: async ({ agentId, sprintId, from, to }) => {
      const patch = await diffIterations(checkpointPlace(agents.requireReady(agentId), sprintId), { from, to })
      return { ...success, ...truncatePatch(patch) }
    },
    'restore-preview': async ({ agentId, sprintId, iteration }) => {
      const patch = await previewRestore(checkpointPlace(agents.requireReady(agentId), sprintId), { iteration })
      return { ...success, ...truncatePatch(patch) }
    },
    'finish-plan': async ({ agentId, sprintId }) => ({
      ...success,
      ...(await planFinish(checkpointPlace(agents.requireReady(agentId), sprintId))),
    }),
    'forget-limit': ({ program }) => limits.record(program, 0).then(() => success),
    notes: async ({ agentId }) => {
      const { notes } = requireKnownAgent(agents, agentId)
      return { ...success, directory: notes, files: await readNotes(notes) }
    },
    conversations: async ({ agentId }) => {
      const all = requireKnownAgent(agents, agentId).conversations.all()
      return {
        ...success,
        conversations: all.map(({ session: _session, transcripts: _paths, ...rest }) => ({ ...rest, agentId })),
      }
    },
    'detect-checks': async ({ agentId }) => {
      const { folder } = agents.requireReady(agentId)
      return { ...success, checks: await findChecks(folder) }
    },
    preflight: ({ program }) => inspectStart(program, { home, env, limits, policy }),
  }
}

const truncatePatch = (patch: string) => ({
  patch: patch.slice(0, maxPatchLength),
  truncated: patch.length > maxPatchLength,
})

/** What a start of this program would meet on the machine. */
async function inspectStart(
  program: string,
  { home, env, limits, policy }: Pick<QueryParts, 'home' | 'env' | 'limits' | 'policy'>,
): Promise<RequestReply<'preflight'>> {
  policy?.assertProgram(program)
  const limitUntil = await limits.limitedUntil(program)
  const { freeBytes } = await diskSpace(home)
  const found = await inspectProgram(program, env)
  const limit = limitUntil === undefined ? {} : { limitUntil }
  const own = policy?.lines ? { policy: [...policy.lines] } : {}
  return {
    ...success,
    preflight: { program: found, ...limit, ...own, diskFreeBytes: freeBytes, runsAs: userInfo().username },
  }
}

export async function answerQuery(answers: QueryHandlers, { type, body }: ReceivedMessage): Promise<unknown> {
  if (!isRequestType(type) || !isQuery(type, answers)) {
    throw new RalphError('VERSION_UNKNOWN', `this machine does not support the query "${type.slice(0, 60)}"`)
  }
  const answer = answers[type]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- body and answer are of the same type, which is looked up twice
  return encodeReply(type, await answer(decodeRequest(type, body) as never))
}

const isQuery = (type: RequestType, answers: QueryHandlers): type is LiveRequest => Object.hasOwn(answers, type)

/** Includes archived agents and agents whose folder is gone: Ralph's own folder can still be read. */
function requireKnownAgent(agents: LocalAgents, agentId: string): LocalAgent {
  const agent = agents.find(agentId)
  if (!agent) throw new RalphError('WORKSPACE_NOT_FOUND', `this machine has no agent ${agentId}`)
  return agent
}

async function readAgentFile(agent: LocalAgent, body: RequestBody<'read-file'>, env: HostEnvironment) {
  const { area, path, offset, length } = body
  const file = resolveFileInArea(agent, area, path)
  const part = await readRange(file, offset, length)
  // Transcripts are stored byte for byte, and redacted when sent.
  const redact = area === 'agent' ? createProjectRedactor(agent.folder, env)() : undefined
  const { size, bytes } = redact ? await readRedactedPart(file, { offset, length, part }, redact) : part
  return { size, base64: bytes.toString('base64') }
}

type FilePartQuery = {
  readonly offset: number
  readonly length: number
  readonly part: { readonly size: number; readonly bytes: Buffer }
}

/** Redacts files up to this size as a whole, so that no secret is missed between two parts. */
async function readRedactedPart(file: string, { offset, length, part }: FilePartQuery, redact: Redact) {
  if (part.size > maxWholeBytes) return { ...part, bytes: Buffer.from(redact(part.bytes.toString())) }
  const clean = Buffer.from(redact((await readTextIfExists(file)) ?? ''))
  return { size: clean.length, bytes: clean.subarray(offset, offset + length) }
}

/** Keeps the path inside the area: no dots, no links. */
function resolveFileInArea(agent: LocalAgent, area: RequestBody<'read-file'>['area'], path: string): string {
  const base = { workspace: agent.folder, agent: agent.home, notes: agent.notes }[area]
  const file = join(base, path)
  if (!isFile(file) || !isInsideFolder(realPath(file), realPath(base))) {
    throw new RalphError('FILE_NOT_FOUND', `file not found in the ${area}`)
  }
  return realPath(file)
}
