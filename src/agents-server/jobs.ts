import { isNotesProtocol } from '../contract/way.ts'
import { noop } from '../platform/async.ts'
import { join, relative } from 'node:path'
import { RalphError, errorMessage } from '../contract/errors.ts'
import type { ReportBody, RequestBody } from '../contract/fleet/machine-messages.ts'
import { MachineFact } from '../contract/fleet/machine-work.ts'
import { encodeReport } from '../connection/message.ts'
import type { SprintEvent } from '../contract/events.ts'
import type { Fact } from '../loop/core/fact.ts'
import { noUsage } from '../contract/outcome.ts'
import { attemptFiles, attemptState } from '../platform/processes/attempt-folder.ts'
import { systemClock } from '../platform/clock.ts'
import { exists, readTextIfExists } from '../platform/files/files.ts'
import { performOrder } from '../runtime/perform-order.ts'
import { retryOnDiskFull } from '../runtime/disk-space.ts'
import type { ClaimProver, Ports } from '../runtime/ports.ts'
import { limitConcurrency } from '../runtime/limit-concurrency.ts'
import { createDiskPort } from '../storage/sprint/disk.ts'
import type { LocalAgent, LocalAgents } from './local-agents.ts'
import { createAgentPorts, agentSprintFolder } from './agent-ports.ts'
import type { HostEnvironment, ProverWiring } from '../host/create-ports.ts'
import type { DiskMailbox } from './disk-mailbox.ts'
import { readReportedLock } from './notes.ts'
import type { MachinePolicy } from './policy.ts'
import { pushWork } from './push-work.ts'
import { runTextPrompt, textPromptAttempt } from './text-prompt.ts'

export type JobParts = {
  readonly agents: LocalAgents
  readonly mailbox: DiskMailbox
  /** Ralph's own folders. */
  readonly ralphHomes: readonly string[]
  /** Absent: no limits. */
  readonly policy?: MachinePolicy | undefined
  readonly env: HostEnvironment
  readonly limits: Ports['limits']
  /** The maximum number of prompts at once on this machine. */
  readonly slots: number
  /** Resolves when work with a lease of this length may start, or `signal` aborts. */
  readonly leased: (leaseMs: number, signal: AbortSignal) => Promise<void>
  readonly changed: () => void
  /** Absent: exit codes in the work tree decide about claims. */
  readonly createProver?: ((wiring: ProverWiring) => ClaimProver) | undefined
  /** The folder whose disk is checked, if it differs. */
  readonly disk?: typeof createDiskPort | undefined
  readonly log: (text: string, about?: Readonly<Record<string, unknown>>) => void
}

export type MachineJob = {
  /** The message that requested it. */
  readonly messageId: string
  readonly agentId: string
  readonly promptId?: string
  readonly orderId?: string
  readonly controller: AbortController
  startedAt: number | undefined
}

/** The work running on this machine. */
export interface Jobs {
  /** Starts when the earlier request, `after`, is done. */
  readonly prompt: (messageId: string, body: RequestBody<'prompt'>, after: Promise<void>) => void
  readonly order: (messageId: string, body: RequestBody<'carry-out'>, after: Promise<void>) => void
  /**
   * Ends running and cancels waiting work; true if there was any. `turn`: running work finishes its turn, waiting work
   * is cancelled.
   */
  readonly interrupt: (body: RequestBody<'interrupt'>) => boolean
  /** Waits until all known prompts of the agent are over. */
  readonly turn: (agentId: string) => Promise<void>
  readonly listForAgent: (agentId: string) => readonly MachineJob[]
}

/** Maximum number of hooks at once. */
const hookSlots = 4
const retryDelayMs = 2000
/** The default for backends that do not send it. */
const defaultLeaseMs = 600_000

export function openJobs(parts: JobParts): Jobs {
  const jobs = new Map<string, MachineJob>()
  const shared = {
    promptSlots: limitConcurrency(parts.slots),
    hookSlots: limitConcurrency(hookSlots),
  }
  const turns = new Map<string, Promise<void>>()
  const start = (job: MachineJob, work: () => Promise<void>) => {
    if (jobs.has(job.messageId)) return
    jobs.set(job.messageId, job)
    parts.changed()
    void work()
      .catch((error: unknown) => parts.log('a job failed', { job: job.messageId, why: errorMessage(error) }))
      .finally(() => {
        jobs.delete(job.messageId)
        parts.changed()
      })
  }
  return {
    prompt: (messageId, body, after) => {
      const { agentId, promptId } = body
      const job: MachineJob = { messageId, agentId, promptId, controller: new AbortController(), startedAt: undefined }
      start(job, () => {
        const before = Promise.all([turns.get(agentId), after])
        const mine = Promise.race([before, whenAborted(job)]).then(() => runPrompt(job, body, { ...parts, ...shared }))
        turns.set(agentId, Promise.allSettled([before, mine]).then(noop))
        return mine
      })
    },
    order: (messageId, body, after) => {
      const { agentId, orderId } = body
      const job: MachineJob = { messageId, agentId, orderId, controller: new AbortController(), startedAt: undefined }
      start(job, () => after.then(() => runOrder(job, body, { ...parts, ...shared })))
    },
    interrupt: ({ agentId, promptId, when }) => {
      const matching = [...jobs.values()].filter(
        (job) => job.agentId === agentId && (promptId === undefined || job.promptId === promptId),
      )
      const ended = matching.filter((job) => when === 'now' || job.startedAt === undefined)
      for (const { controller } of ended) controller.abort()
      return ended.length > 0
    },
    turn: (agentId) => turns.get(agentId) ?? Promise.resolve(),
    listForAgent: (agentId) => [...jobs.values()].filter((job) => job.agentId === agentId),
  }
}

/** Cancelled work does not wait for its turn. */
const whenAborted = ({ controller: { signal } }: MachineJob): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

type JobContext = JobParts & {
  readonly promptSlots: Ports['hookSlots']
  readonly hookSlots: Ports['hookSlots']
}

async function runPrompt(job: MachineJob, body: RequestBody<'prompt'>, parts: JobContext): Promise<void> {
  const { promptId, agentId } = body
  const { pushed, ...ended } = await parts.promptSlots(() => executePrompt(job, body, parts))
  const agent = parts.agents.find(agentId)
  const isNotes = body.asked.kind === 'order' && isNotesProtocol(body.asked.protocol)
  const lock = agent && isNotes ? { lock: await readReportedLock(agent.notes) } : {}
  const reported = {
    promptId,
    agentId,
    endedAt: Date.now(),
    end: ended.end,
    ...(agent && (await readSentPrompt(agent, body))),
    ...(pushed !== undefined && { pushed }),
    ...lock,
  }
  const report = encodeReport('prompt-ended', reported)
  await sendUntilStored({ id: `prompt-ended:${promptId}`, type: 'prompt-ended', body: report }, job.messageId, parts)
}

type PromptOutcome = Parameters<typeof encodeReport<'prompt-ended'>>[1]['end']
type EndedPrompt = { readonly end: PromptOutcome; readonly pushed?: string }

async function executePrompt(job: MachineJob, body: RequestBody<'prompt'>, parts: JobContext): Promise<EndedPrompt> {
  const { signal } = job.controller
  try {
    // Work that began before a restart is already running, with or without a backend: reattach and finish it properly.
    const known = parts.agents.find(body.agentId)
    const hasStarted = known !== undefined && hasStartedAttempt(known, body)
    if (!hasStarted) await parts.leased(body.leaseMs, signal)
    if (signal.aborted && !hasStarted) return { end: { kind: 'cancelled' } }
    if (hasStarted && wasAborted(known, body)) return { end: abortedEnd(body) }
    parts.policy?.assertProgram(body.program)
    const agent = parts.agents.requireReady(body.agentId)
    job.startedAt = Date.now()
    parts.changed()
    if (body.asked.kind === 'text') return await runUserPrompt(agent, body, { ...parts, signal })
    return await runSprintPrompt(job, agent, body.asked, { ...parts, program: body.program })
  } catch (error) {
    parts.log('failed to start a prompt', { promptId: body.promptId, why: errorMessage(error) })
    return { end: { kind: 'refused', reason: errorMessage(error) } }
  }
}

/** A user's own prompt. */
async function runUserPrompt(
  agent: LocalAgent,
  body: RequestBody<'prompt'>,
  parts: JobContext & { readonly signal: AbortSignal },
): Promise<EndedPrompt> {
  const { promptId } = body
  const observe = (event: SprintEvent) => agent.events.add({ at: Date.now(), promptId, event })
  const outcome = await retryOnDiskFull(
    () => runTextPrompt(agent, body, parts),
    createRoomCheck(agent, observe, parts),
    parts.signal,
  )
  return { end: 'aborted' in outcome ? { kind: 'cancelled' } : { kind: 'outcome', outcome } }
}

/** The space needed before the runtime itself checks for room. */
const createRoomCheck = (
  { home }: LocalAgent,
  observe: (event: SprintEvent) => void,
  { disk = createDiskPort }: JobParts,
) => ({
  disk: disk(home),
  clock: systemClock,
  observe,
})

type SprintOrder = Extract<RequestBody<'prompt'>['asked'], { kind: 'order' }>

async function runSprintPrompt(
  job: MachineJob,
  agent: LocalAgent,
  { sprintId, order, progress }: SprintOrder,
  parts: JobContext & { readonly program: string },
): Promise<EndedPrompt> {
  const attempt = findAttemptFolder(agent, sprintId, `${order.iteration}-${order.attempt}`)
  const { promptId } = job
  let messages = 0
  const observe: Ports['observe'] = (event, sent) => {
    if (event.type === 'agent' && event.event.kind === 'text') messages++
    agent.events.add({ at: Date.now(), sprintId, promptId, event, attempt, prompt: sent?.prompt })
  }
  const { signal } = job.controller
  const open = () => createAgentPorts({ ...parts, agent, sprintId, progress, observe })
  const ports = await retryOnDiskFull(open, createRoomCheck(agent, observe, parts), signal)
  if ('aborted' in ports) return { end: { kind: 'cancelled' } }
  const fact = await performOrder(order, { progress, ports, signal })
  const startedAt = job.startedAt ?? Date.now()
  const conversation = { startedAt, endedAt: Date.now(), sprintId, iteration: order.iteration, messages }
  await agent.conversations.add({ ...conversation, transcript: `${attempt}/transcript.jsonl` })
  const kept = await pushWork(agent, { sprintId, tree: progress.proofBaseline?.tree }, observe)
  return { end: fact ? { kind: 'fact', fact: machineFact(fact) } : { kind: 'cancelled' }, ...kept }
}

/** Relative to the agent's folder. */
const findAttemptFolder = (agent: LocalAgent, sprintId: string, name: string): string =>
  relative(agent.home, join(agentSprintFolder(agent, sprintId), 'attempts', name))

const hasStartedAttempt = (agent: LocalAgent, body: RequestBody<'prompt'>): boolean =>
  exists(attemptFolder(agent, body))

/** Ended on request, and killed before reporting it: the attempt is over and must not start again. */
const wasAborted = (agent: LocalAgent, body: RequestBody<'prompt'>): boolean =>
  attemptState(lastAttemptFolder(agent, body)) === 'aborted'

/** Read from disk: after a restart, a prompt built again could differ from the one that the agent received. */
async function readSentPrompt(agent: LocalAgent, body: RequestBody<'prompt'>): Promise<{ readonly prompt?: string }> {
  const prompt = await readTextIfExists(join(lastAttemptFolder(agent, body), attemptFiles.stdin))
  return prompt === undefined ? {} : { prompt }
}

/** A lost process is started again in a folder with the next number. */
function lastAttemptFolder(agent: LocalAgent, body: RequestBody<'prompt'>): string {
  const first = attemptFolder(agent, body)
  let last = first
  for (let n = 2; exists(`${first}.${n}`); n++) last = `${first}.${n}`
  return last
}

function attemptFolder(agent: LocalAgent, { asked, promptId }: RequestBody<'prompt'>): string {
  if (asked.kind === 'text') return join(agent.home, textPromptAttempt(promptId))
  const { sprintId, order } = asked
  return join(agent.home, findAttemptFolder(agent, sprintId, `${order.iteration}-${order.attempt}`))
}

function abortedEnd({ asked }: RequestBody<'prompt'>): PromptOutcome {
  const spent = { usage: noUsage, costUsd: 0 }
  if (asked.kind === 'text') {
    return { kind: 'outcome', outcome: { status: 'aborted', retryable: false, text: '', resumable: false, ...spent } }
  }
  const { iteration, attempt } = asked.order
  const at = { at: Date.now(), iteration, attempt, random: Math.random() }
  return { kind: 'fact', fact: { type: 'attempt-ended', ...at, end: { kind: 'aborted' }, ...spent } }
}

async function runOrder(job: MachineJob, body: RequestBody<'carry-out'>, parts: JobContext): Promise<void> {
  const { orderId, agentId, leaseMs = defaultLeaseMs } = body
  await parts.leased(leaseMs, job.controller.signal)
  job.startedAt = Date.now()
  const done = job.controller.signal.aborted
    ? { reason: 'cancelled' }
    : await performMachineOrder(job, body, parts).catch((error: unknown) => ({ reason: errorMessage(error) }))
  const report = encodeReport('order-ended', { orderId, agentId, endedAt: Date.now(), ...done })
  await sendUntilStored({ id: `order-ended:${orderId}`, type: 'order-ended', body: report }, job.messageId, parts)
}

async function performMachineOrder(
  job: MachineJob,
  { agentId, sprintId, program, orderId, order, progress }: RequestBody<'carry-out'>,
  parts: JobContext,
) {
  const agent = parts.agents.requireReady(agentId)
  const observe = (event: SprintEvent) => agent.events.add({ at: Date.now(), sprintId, event })
  const { signal } = job.controller
  const open = () => createAgentPorts({ ...parts, agent, sprintId, program, progress, observe })
  const ports = await retryOnDiskFull(open, createRoomCheck(agent, observe, parts), signal)
  if ('aborted' in ports) return { reason: 'cancelled' }
  const send = (fact: Fact) => {
    if (fact.type === 'hook-spawned') sendHookProcess({ orderId, agentId, pid: fact.pid }, parts)
  }
  const fact = await performOrder(order, { progress, ports, signal, send })
  const recorded = fact?.type === 'checks-ended' ? fact.proofBaseline : undefined
  const { tree } = recorded ?? progress.proofBaseline ?? { tree: undefined }
  const kept = await pushWork(agent, { sprintId, tree }, observe)
  return { ...(fact ? { fact: machineFact(fact) } : { reason: 'cancelled' }), ...kept }
}

/** Users can do without the process id of a hook, so a full disk does not hold up the hook. */
function sendHookProcess(body: ReportBody<'hook-spawned'>, { mailbox, log }: JobParts): void {
  const { orderId, pid } = body
  const id = `hook-spawned:${orderId}:${pid}`
  mailbox
    .send({ id, type: 'hook-spawned', body: encodeReport('hook-spawned', body) })
    .catch((error: unknown) => log('failed to report the process of a hook', { orderId, why: errorMessage(error) }))
}

/** For a machine's order, `perform` returns only facts that answer it. */
function machineFact(fact: Fact): MachineFact {
  if (isMachineFact(fact)) return fact
  throw new RalphError('INTERNAL', `a machine must not produce the fact "${fact.type}"`)
}

const isMachineFact = (fact: Fact): fact is Extract<Fact, { type: MachineFact['type'] }> =>
  MachineFact.options.some(({ shape }) => shape.type.value === fact.type)

/** A full disk may have room later, so retry instead of losing the report. */
async function sendUntilStored(
  message: Parameters<DiskMailbox['send']>[0],
  settles: string,
  { mailbox, log }: JobParts,
) {
  while (!mailbox.isClosed()) {
    try {
      return await mailbox.send(message, settles)
    } catch (error) {
      log('failed to store a report, retrying', { id: message.id, why: errorMessage(error) })
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs))
    }
  }
}
