import { backoffMs } from '../contract/backoff.ts'
import { join } from 'node:path'
import { createFailureReply } from '../connection/calls.ts'
import { sendHello } from '../connection/greeting.ts'
import { openLine, type Line, type Timing } from '../connection/line.ts'
import { decodeReportReply, decodeRequest, encodeReport } from '../connection/message.ts'
import { createSeal } from '../connection/seal.ts'
import type { Transport } from '../connection/transport.ts'
import { coalesce } from '../platform/async.ts'
import { RalphError, errorMessage } from '../contract/errors.ts'
import { protocolVersions } from '../contract/fleet/machine-messages.ts'
import type { InstalledProgram } from '../contract/fleet/machine.ts'
import type { AccountLimits } from '../runtime/ports.ts'
import { systemClock } from '../platform/clock.ts'
import { openMachineLimits, type HostEnvironment } from '../host/create-ports.ts'
import { openAgents, type LocalAgents } from './local-agents.ts'
import { answerQuery, createQueryHandlers } from './queries.ts'
import { createCommandRunner, type MessageTurn } from './commands.ts'
import { openDiskMailbox, type DiskMailbox, type IncomingMessage } from './disk-mailbox.ts'
import { createInventory, type MachineSettings } from './inventory.ts'
import { arianaNotes } from './notes.ts'
import { openJobs, type JobParts, type Jobs } from './jobs.ts'
import { openLease, type Lease } from './lease.ts'
import { lockMachineFolder, type OwnedFolder } from './machine-folder.ts'
import { readPolicy, type MachinePolicy } from './policy.ts'
import { findPrograms } from './programs.ts'
import { createUpdates, type Updates } from './updates.ts'
import { openUploader, type Uploader } from './uploader.ts'

export type AgentsServerOptions = {
  /** The data folder: `$RALPH_HOME`. */
  readonly home: string
  readonly env: HostEnvironment
  /** Where account usage limits are stored for all Ralph processes of this user; the data folder by default. */
  readonly limitsHome?: string
  readonly disk?: JobParts['disk']
  readonly createProver?: JobParts['createProver']
  /** More of Ralph's folders to hide from agents. */
  readonly alsoHidden?: readonly string[]
  readonly machineId: string
  readonly version: string
  /** The version that the next start would run, read from the disk. */
  readonly installedVersion?: () => string | undefined
  readonly settings: MachineSettings
  /** Opens a connection to the backend. Rejects if it is not reachable. */
  readonly connect: () => Promise<Transport>
  /** Called whenever a line is up. */
  readonly onLine?: (line: Line) => void
  readonly log: (text: string, about?: Readonly<Record<string, unknown>>) => void
  readonly timing?: Partial<Timing>
}

export interface AgentsServer {
  /** Releases the line and the folder. Running agents continue, and the next start reattaches to them. */
  readonly close: () => Promise<void>
  /** Resolves with the reason when retrying is pointless: the machine was revoked, or another one uses its key. */
  readonly refused: Promise<string>
  /** Resolves with the version that replaced this one: the process should restart. */
  readonly updated: Promise<string>
}

type ServerParts = AgentsServerOptions & {
  readonly policy: MachinePolicy
  readonly folder: OwnedFolder
  readonly mailbox: DiskMailbox
  readonly agents: LocalAgents
  readonly jobs: Jobs
  readonly limits: AccountLimits
  readonly lease: Lease
  readonly uploader: Uploader
  readonly programs: { found: readonly InstalledProgram[] | undefined }
  /** Listeners for changes of the inventory. */
  readonly changes: { notify: () => void }
  readonly current: { line?: Line }
}

const programsPollIntervalMs = 10 * 60_000
const debounceMs = 1000
const reconnectBackoff = { firstMs: 200, maxMs: 4000 }

/** The daemon of a machine: receives work over the line, runs it, and keeps every report until the backend has it. */
export async function startAgentsServer(options: AgentsServerOptions): Promise<AgentsServer> {
  const parts = await openParts(options)
  const { home, env, settings, installedVersion } = options
  const updates = createUpdates({ command: settings.update, env, cwd: home, installedVersion })
  const handleMessage = createMessageHandler(parts, updates)
  for (const message of parts.mailbox.open()) handleMessage(message, 'again')
  const watching = watchPrograms(parts)
  const dialing = keepDialing(parts, handleMessage)
  return {
    refused: dialing.refused,
    updated: updates.done,
    close: async () => {
      clearInterval(watching)
      parts.lease.close()
      dialing.stop()
      await parts.mailbox.close()
      await parts.agents.close()
      parts.folder.release()
    },
  }
}

async function openParts(options: AgentsServerOptions): Promise<ServerParts> {
  const { home, env, settings, log } = options
  const policy = await readPolicy(options.limitsHome ?? home)
  const folder = await lockMachineFolder(home)
  const mailbox = await openDiskMailbox(join(home, 'machine', 'mailbox.log'))
  const { roots, notes } = settings
  const ralphHomes = [
    home,
    ...(options.limitsHome === undefined ? [] : [options.limitsHome]),
    ...(options.alsoHidden ?? []),
  ]
  const own = { home, state: ralphHomes, agents: join(home, 'agents'), workspaces: join(home, 'workspaces') }
  const places = { ...own, roots, notes, policyRoots: policy.roots }
  const agents = await openAgents(places)
  const lease = openLease()
  const uploader = openUploader()
  const changes = { notify: () => {} }
  const changed = () => changes.notify()
  const limits = openMachineLimits(options.limitsHome ?? home, env)
  const { slots } = settings
  const jobs = openJobs({
    agents,
    mailbox,
    ralphHomes,
    policy,
    env,
    limits,
    slots,
    createProver: options.createProver,
    disk: options.disk,
    leased: lease.wait,
    changed,
    log,
  })
  const current: ServerParts['current'] = {}
  mailbox.onSend(() => current.line?.wake())
  for (const agent of agents.all()) uploader.add(agent)
  agents.onNew(uploader.add)
  return {
    ...options,
    policy,
    limits,
    folder,
    mailbox,
    agents,
    jobs,
    lease,
    uploader,
    programs: { found: undefined },
    changes,
    current,
  }
}

function watchPrograms({ env, programs, changes }: ServerParts): NodeJS.Timeout {
  const look = async () => {
    const before = JSON.stringify(programs.found)
    programs.found = await findPrograms(env)
    if (JSON.stringify(programs.found) !== before) changes.notify()
  }
  void look().catch(() => {})
  return setInterval(() => void look().catch(() => {}), programsPollIntervalMs).unref()
}

/** Handles a stored message, now or after a restart. */
function createMessageHandler(
  parts: ServerParts,
  updates: Updates,
): (message: IncomingMessage, when?: MessageTurn) => void {
  const { jobs, agents, mailbox, version, log } = parts
  const runCommand = createCommandRunner({
    agents,
    jobs,
    version,
    env: parts.env,
    now: Date.now,
    changed: () => parts.changes.notify(),
    earlierNotes: parts.env['HOME'] ? arianaNotes(parts.env['HOME']) : undefined,
    install: async (update) => {
      parts.policy.assertUpdate()
      await updates.install(update)
    },
  })
  const lines = new Map<string, Promise<void>>()
  const answer = async ({ id, type, body }: IncomingMessage, when: MessageTurn) => {
    const about = { to: id, type }
    const reply = await runCommand({ type, body }, when).then(
      (result) => ({ success: true, ...about, result }),
      (error: unknown) => createFailureReply(about, error),
    )
    if (!reply.success) log('a request failed', { id, type, reply })
    await mailbox.send({ id: `reply:${id}`, type: 'reply', body: reply }, id)
    if (type === 'update') await updates.answered(() => mailbox.waiting().some((one) => one.id === `reply:${id}`))
  }
  const enqueueAnswer = (message: IncomingMessage, when: MessageTurn, after?: Promise<void>) => {
    const next = Promise.all([lines.get(messageAgentId(message)), after])
      .then(() => answer(message, when))
      .catch((error: unknown) => log('failed to store an answer', { id: message.id, why: String(error) }))
    lines.set(messageAgentId(message), next)
  }
  return (message, when = 'now') => {
    const { id, type, body } = message
    try {
      const before = lines.get(messageAgentId(message)) ?? Promise.resolve()
      if (type === 'prompt') jobs.prompt(id, decodeRequest('prompt', body), before)
      else if (type === 'carry-out') jobs.order(id, decodeRequest('carry-out', body), before)
      // Immediately: the work to end may be what the queue is waiting for.
      else if (type === 'interrupt') void answer(message, when)
      // Work that is being ended may still be starting, and would write the lock again.
      else if (type === 'ralph-mode-end') enqueueAnswer(message, when, jobs.turn(messageAgentId(message)))
      else enqueueAnswer(message, when)
    } catch (error) {
      log('received an invalid message', { id, type, why: errorMessage(error) })
      void answer(message, when)
    }
  }
}

const messageAgentId = ({ body }: IncomingMessage): string =>
  typeof body === 'object' && body !== null && 'agentId' in body ? String(body.agentId) : ''

/** Keeps connecting to the backend, with growing, jittered pauses. */
function keepDialing(parts: ServerParts, handleMessage: (message: IncomingMessage) => void) {
  const stopping = new AbortController()
  const { signal } = stopping
  let failures = 0
  let reported = ''
  const connectOnce = async () => {
    const line = await openMachineLine(parts, handleMessage)
    const stop = () => line.close('agents-server stopping')
    signal.addEventListener('abort', stop)
    try {
      await exchangeInventory(line, parts)
      failures = 0
      reported = ''
      parts.log('line closed', { reason: await line.closed })
    } finally {
      line.close('it failed')
      signal.removeEventListener('abort', stop)
      parts.lease.setReconciled(false)
    }
  }
  const run = async (): Promise<string> => {
    while (!signal.aborted) {
      try {
        await connectOnce()
      } catch (error) {
        if (error instanceof RalphError && error.code === 'MACHINE_REFUSED') return error.message
        const hint = error instanceof RalphError ? error.hint : undefined
        const why = errorMessage(error)
        if (why !== reported) parts.log('cannot reach the backend', { why, ...(hint !== undefined && { hint }) })
        reported = why
      }
      const pause = backoffMs(reconnectBackoff, ++failures, Math.random())
      await systemClock.waitUntil(Date.now() + pause, signal)
    }
    return new Promise(() => {})
  }
  return { refused: run(), stop: () => stopping.abort() }
}

async function openMachineLine(parts: ServerParts, handleMessage: (message: IncomingMessage) => void): Promise<Line> {
  const { machineId, version, folder, lease, timing } = parts
  const transport = await parts.connect()
  const { bootEpoch, bootId } = folder
  const { epoch } = await sendHello(transport, {
    machineId,
    speaks: protocolVersions,
    version,
    bootEpoch,
    bootId,
    at: Date.now(),
  })
  const answers = createQueryHandlers(parts)
  const line = openLine({
    transport,
    epoch,
    seal: createSeal(transport.secret, 'machine'),
    mailbox: parts.mailbox,
    onReceived: ({ id, type, body }) => handleMessage({ id, type, body }),
    answer: (request) => answerQuery(answers, request),
    onActivity: lease.renew,
    ...(timing && { timing }),
  })
  parts.current.line = line
  return line
}

/** Both sides exchange their inventories first; only then work starts and events flow. */
async function exchangeInventory(line: Line, parts: ServerParts): Promise<void> {
  const sendInventory = async () => {
    const { folder, programs, mailbox } = parts
    const about = {
      ...parts,
      bootEpoch: folder.bootEpoch,
      waiting: () => mailbox.waiting(),
      programs: () => programs.found,
    }
    const inventory = await createInventory(about)
    const reply = await line.call('inventory', encodeReport('inventory', { inventory }), 30_000)
    return decodeReportReply('inventory', reply)
  }
  const { stored, moved = [] } = await sendInventory()
  // Before any work starts, so that none is done twice.
  for (const agentId of moved) {
    parts.jobs.interrupt({ agentId, when: 'now' })
    await parts.agents.release(agentId)
  }
  if (moved.length > 0) parts.log('other machines have taken over agents', { moved })
  parts.uploader.connect(line, stored)
  parts.lease.setReconciled(true)
  parts.onLine?.(line)
  parts.log('connected')
  // Debounced: with many agents, something changes all the time.
  const again = coalesce(
    async () => {
      await new Promise((resolve) => setTimeout(resolve, debounceMs))
      await sendInventory()
    },
    () => {},
  )
  parts.changes.notify = again
  if (parts.programs.found) again()
}
