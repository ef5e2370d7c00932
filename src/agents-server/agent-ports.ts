import { dirname, join } from 'node:path'
import type { Driver } from '../agents/drivers/driver.ts'
import { identifyAccount } from '../agents/supervise/environment.ts'
import { getDriver } from '../agents/drivers/registry.ts'
import { protectionFor } from '../agents/cells/protection.ts'
import type { Sandbox } from '../agents/cells/sandbox.ts'
import { superviseShell } from '../agents/supervise/shell.ts'
import { superviseAgent } from '../agents/supervise/supervisor.ts'
import { RalphError } from '../contract/errors.ts'
import type { SprintEvent } from '../contract/events.ts'
import type { Progress } from '../contract/progress.ts'
import { systemClock } from '../platform/clock.ts'
import { exists, createFolder, readTextIfExists } from '../platform/files/files.ts'
import { writeFileAtomic } from '../platform/files/atomic-file.ts'
import type { AccountLimits, AgentRunner, Ports } from '../runtime/ports.ts'
import { redactAgent, redactShell } from '../runtime/redact-ports.ts'
import { openAccountLimits } from '../storage/accounts/account-limits.ts'
import { createDiskPort } from '../storage/sprint/disk.ts'
import { readLearnings } from '../storage/sprint/learnings.ts'
import { createProjectFiles } from '../storage/git/project-files.ts'
import { createProjectRedactor } from '../storage/accounts/secrets.ts'
import { removeNewLinks } from '../storage/state/sprint-folder.ts'
import { openWorkspace } from '../storage/git/workspace.ts'
import type { LocalAgent } from './local-agents.ts'
import { createTaskLock } from './notes.ts'
import type { MachinePolicy } from './policy.ts'

export type AgentEnvironment = Readonly<Record<string, string | undefined>>

export type PortOptions = {
  readonly agent: LocalAgent
  readonly sprintId: string
  /** The agent program to run if the progress names none. */
  readonly program: string
  readonly progress: Progress
  readonly env: AgentEnvironment
  /** Ralph's own folders, hidden from agents. */
  readonly ralphHomes: readonly string[]
  /** Absent: no limits. */
  readonly policy?: MachinePolicy | undefined
  readonly limits: AccountLimits
  readonly disk?: typeof createDiskPort | undefined
  readonly hookSlots: Ports['hookSlots']
  readonly observe: (event: SprintEvent) => void
}

/** The sprint's folder inside the agent's folder: attempts, transcripts, copies of protected files. */
export const agentSprintFolder = (agent: LocalAgent, sprintId: string): string => join(agent.home, 'sprints', sprintId)

/** Usage limits of this machine's accounts, shared by all its agents and by `ralph run`. */
export const openMachineLimits = (home: string, env: AgentEnvironment): AccountLimits =>
  openAccountLimits(home, (name) => identifyAccount(getDriver(name), env))

/** Creates the runtime's ports for one order of a sprint: those of `ralph run`, in the workspace of an agent. */
export async function createAgentPorts(options: PortOptions): Promise<Ports> {
  const { agent, sprintId, progress, env, observe, policy } = options
  const sprintDir = agentSprintFolder(agent, sprintId)
  const place = { sprintDir, cwd: agent.folder, env }
  const redactor = createProjectRedactor(agent.folder, env)
  const settings = {
    pass: progress.env?.pass ?? [],
    prices: progress.prices,
    sandbox: await createAgentSandbox(options),
  }
  const guard = removeNewLinks(sprintDir)
  const runner = (driver: Driver, model: string | undefined): AgentRunner =>
    redactAgent(guard(superviseAgent({ ...place, ...settings, driver, model })), redactor)
  const shell = redactShell(superviseShell(place), redactor)
  const workspace = await openWorkspace({ project: agent.folder, sprintDir, sprintId })
  await createFirstCheckpoint(sprintDir, workspace)
  return {
    store: { save: async () => {} },
    agents: (name, model) => {
      policy?.assertProgram(name ?? options.program)
      return runner(getDriver(name ?? options.program), model ?? progress.model)
    },
    shell: policy?.guardShell(shell) ?? shell,
    workspace,
    projectFiles: createProjectFiles(agent.folder, sprintDir),
    cleanWorktree: async () => undefined,
    limits: options.limits,
    notes: () => readLearnings(sprintDir, redactor()),
    lock: createTaskLock(agent.notes),
    hookSlots: options.hookSlots,
    notify: async () => {
      throw new RalphError('NOT_SUPPORTED', 'the backend sends notifications')
    },
    clock: systemClock,
    disk: (options.disk ?? createDiskPort)(sprintDir),
    random: Math.random,
    observe,
  }
}

/** Sprints whose first checkpoint exists. */
export const checkpointMarkerFile = (sprintDir: string): string => join(sprintDir, 'begun')

/** Checkpoint 0: the files before the first iteration. */
async function createFirstCheckpoint(sprintDir: string, workspace: Ports['workspace']): Promise<void> {
  const begun = checkpointMarkerFile(sprintDir)
  await createFolder(sprintDir)
  if (exists(begun)) return
  // A broken repository costs the checkpoint, not the sprint.
  await workspace.start().catch(() => {})
  await writeFileAtomic(begun, '')
}

/**
 * The sandbox of `ralph run`, with write access to the notes, which are in another folder. Logs its protection once.
 */
async function createAgentSandbox(options: PortOptions): Promise<Sandbox | undefined> {
  const { agent, progress, env, ralphHomes, observe, sprintId } = options
  const alsoWritable = progress.protocol === 'notes' ? [agent.notes] : []
  const { sandbox: wanted } = progress
  const protection = await protectionFor({ wanted, env, cwd: agent.folder, ralphHomes, alsoWritable })
  options.policy?.assertProtection(protection)
  const { sandbox, text } = protection
  const told = join(agent.home, 'protection', sprintId)
  if ((await readTextIfExists(told)) === text) return sandbox
  observe({ type: 'note', level: 'info', text: `sandbox: ${text}` })
  await createFolder(dirname(told))
  await writeFileAtomic(told, text)
  return sandbox
}
