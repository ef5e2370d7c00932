import { isNotesProtocol } from '../contract/way.ts'
import { dirname, join } from 'node:path'
import { protectionFor } from '../agents/cells/protection.ts'
import type { Sandbox } from '../agents/cells/sandbox.ts'
import { getDriver } from '../agents/drivers/registry.ts'
import { RalphError } from '../contract/errors.ts'
import type { SprintEvent } from '../contract/events.ts'
import type { Progress } from '../contract/progress.ts'
import { createPorts, type HostEnvironment, type ProverWiring } from '../host/create-ports.ts'
import { writeFileAtomic } from '../platform/files/atomic-file.ts'
import { createFolder, exists, readTextIfExists } from '../platform/files/files.ts'
import type { AccountLimits, ClaimProver, Ports } from '../runtime/ports.ts'
import { snapshotRef } from '../storage/git/pushed-snapshot.ts'
import type { createDiskPort } from '../storage/sprint/disk.ts'
import { isTelemetryOn } from '../telemetry/telemetry.ts'
import { createTraceparents } from '../telemetry/trace-context.ts'
import type { LocalAgent } from './local-agents.ts'
import { createTaskLock } from './notes.ts'
import type { MachinePolicy } from './policy.ts'

export type AgentPortOptions = {
  readonly agent: LocalAgent
  readonly sprintId: string
  /** The agent program to run if the progress names none. */
  readonly program: string
  readonly progress: Progress
  readonly env: HostEnvironment
  /** Ralph's own folders, hidden from agents. */
  readonly ralphHomes: readonly string[]
  /** Absent: no limits. */
  readonly policy?: MachinePolicy | undefined
  readonly limits: AccountLimits
  readonly createProver?: ((wiring: ProverWiring) => ClaimProver) | undefined
  readonly disk?: typeof createDiskPort | undefined
  readonly hookSlots: Ports['hookSlots']
  readonly observe: (event: SprintEvent) => void
}

/** The sprint's folder inside the agent's folder: attempts, transcripts, copies of protected files. */
export const agentSprintFolder = (agent: LocalAgent, sprintId: string): string => join(agent.home, 'sprints', sprintId)

/** What claims of the sprint are measured against: not in its folder, which the agent writes to. */
export const agentProofFolder = (agent: LocalAgent, sprintId: string): string => join(agent.home, 'proof', sprintId)

/** Creates the runtime's ports for one order of a sprint: those of `ralph run`, in the workspace of an agent. */
export async function createAgentPorts(options: AgentPortOptions): Promise<Ports> {
  const { agent, sprintId, progress, env, observe, policy } = options
  const sprintDir = agentSprintFolder(agent, sprintId)
  const sandbox = await createAgentSandbox(options)
  const ports = await createPorts({
    sprintDir,
    sprintId,
    project: agent.folder,
    folder: agent.folder,
    progress,
    env,
    sandbox,
    store: { save: async () => {} },
    limits: options.limits,
    hookSlots: options.hookSlots,
    lock: createTaskLock(agent.notes),
    chooseAgent: (name, model) => {
      policy?.assertProgram(name ?? options.program)
      return { driver: getDriver(name ?? options.program), model: model ?? progress.model }
    },
    createNotify: () => async () => {
      throw new RalphError('NOT_SUPPORTED', 'the backend sends notifications')
    },
    createProver: wireProver(options, sandbox),
    createDisk: options.disk,
    observe,
    drained: () => agent.events.drained(),
    ...(isTelemetryOn(env) && { traceparent: createTraceparents({ sprint: sprintId, parent: undefined }) }),
  })
  await createFirstCheckpoint(sprintDir, ports.workspace)
  await adoptBaseline(options, ports.prover)
  const shell = policy?.guardShell(ports.shell) ?? ports.shell
  return { ...ports, shell, cleanWorktree: async () => undefined }
}

function wireProver(options: AgentPortOptions, sandbox: Sandbox | undefined) {
  const { createProver, agent, sprintId, progress, ralphHomes, policy } = options
  if (!createProver || policy?.allowsProof(progress) === false) return undefined
  const folders = { sprintDir: agentSprintFolder(agent, sprintId), state: agentProofFolder(agent, sprintId) }
  return (redact: ProverWiring['redact']) =>
    createProver({ ...folders, hidden: ralphHomes, folder: agent.folder, progress, sandbox, redact })
}

/** Of a sprint that this machine has taken over. Without it, a claim becomes a question. */
async function adoptBaseline({ agent, sprintId, progress }: AgentPortOptions, prover?: ClaimProver): Promise<void> {
  if (agent.from === undefined || !progress.proofBaseline) return
  const from = { ref: snapshotRef({ sprintId }, agent.from) }
  await prover?.adoptBaseline(progress.proofBaseline, from).catch(() => {})
}

/** Sprints whose first checkpoint exists. */
export const checkpointMarkerFile = (sprintDir: string): string => join(sprintDir, 'begun')

/** Checkpoint 0: the files before the first iteration. */
async function createFirstCheckpoint(sprintDir: string, workspace: Ports['workspace']): Promise<void> {
  const marker = checkpointMarkerFile(sprintDir)
  await createFolder(sprintDir)
  if (exists(marker)) return
  // A broken repository costs the checkpoint, not the sprint.
  await workspace.start().catch(() => {})
  await writeFileAtomic(marker, '')
}

/**
 * The sandbox of `ralph run`, with write access to the notes, which are in another folder. Logs its protection once.
 */
async function createAgentSandbox(options: AgentPortOptions): Promise<Sandbox | undefined> {
  const { agent, progress, env, ralphHomes, observe, sprintId } = options
  const alsoWritable = isNotesProtocol(progress.protocol) ? [agent.notes] : []
  options.policy?.assertWalls(progress)
  const protection = await protectionFor({ walls: progress, env, cwd: agent.folder, ralphHomes, alsoWritable })
  options.policy?.assertProtection(protection)
  const { sandbox, text } = protection
  const loggedFile = join(agent.home, 'protection', sprintId)
  if ((await readTextIfExists(loggedFile)) === text) return sandbox
  observe({ type: 'note', level: 'info', text: `sandbox: ${text}` })
  await createFolder(dirname(loggedFile))
  await writeFileAtomic(loggedFile, text)
  return sandbox
}
