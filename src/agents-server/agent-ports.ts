import { dirname, join } from 'node:path'
import type { Driver } from '../agents/drivers/driver.ts'
import { accountOf } from '../agents/supervise/environment.ts'
import { driverNamed } from '../agents/drivers/registry.ts'
import { protectionFor } from '../agents/cells/protection.ts'
import type { Sandbox } from '../agents/cells/sandbox.ts'
import { superviseShell } from '../agents/supervise/shell.ts'
import { superviseAgent } from '../agents/supervise/supervisor.ts'
import { RalphError } from '../contract/errors.ts'
import type { SprintEvent } from '../contract/events.ts'
import type { Progress } from '../contract/progress.ts'
import { systemClock } from '../platform/clock.ts'
import { exists, makeFolder, readTextIfThere } from '../platform/files/files.ts'
import { writeFileAtomic } from '../platform/files/atomic-file.ts'
import type { AccountLimits, AgentRunner, Ports } from '../runtime/ports.ts'
import { redactedAgent, redactedShell } from '../runtime/redacted.ts'
import { accountLimits } from '../storage/accounts/account-limits.ts'
import { diskOf } from '../storage/sprint/disk.ts'
import { projectFiles } from '../storage/git/project-files.ts'
import { redactorFor } from '../storage/accounts/secrets.ts'
import { withoutNewLinks } from '../storage/state/sprint-folder.ts'
import { openWorkspace } from '../storage/git/workspace.ts'
import type { LocalAgent } from './agents.ts'
import { taskLock } from './notes.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type PortOptions = {
  readonly agent: LocalAgent
  readonly sprintId: string
  /** The agent program to run if the progress names none. */
  readonly program: string
  readonly progress: Progress
  readonly env: Environment
  /** Ralph's own folders, hidden from agents. */
  readonly ralphHomes: readonly string[]
  readonly limits: AccountLimits
  readonly disk?: typeof diskOf | undefined
  readonly hookSlots: Ports['hookSlots']
  readonly observe: (event: SprintEvent) => void
}

/** The sprint's folder inside the agent's folder: attempts, transcripts, copies of protected files. */
export const sprintFolder = (agent: LocalAgent, sprintId: string): string => join(agent.home, 'sprints', sprintId)

/** Usage limits of this machine's accounts, shared by all its agents and by `ralph run`. */
export const limitsOf = (home: string, env: Environment): AccountLimits =>
  accountLimits(home, (name) => accountOf(driverNamed(name), env))

/** Creates the runtime's ports for one order of a sprint: those of `ralph run`, in the workspace of an agent. */
export async function portsFor(options: PortOptions): Promise<Ports> {
  const { agent, sprintId, progress, env, observe } = options
  const sprintDir = sprintFolder(agent, sprintId)
  const place = { sprintDir, cwd: agent.folder, env }
  const redactor = redactorFor(agent.folder, env)
  const settings = { pass: progress.env?.pass ?? [], prices: progress.prices, sandbox: await sandboxFor(options) }
  const guard = withoutNewLinks(sprintDir)
  const runner = (driver: Driver, model: string | undefined): AgentRunner =>
    redactedAgent(guard(superviseAgent({ ...place, ...settings, driver, model })), redactor)
  const workspace = await openWorkspace({ project: agent.folder, sprintDir, sprintId })
  await begin(sprintDir, workspace)
  return {
    store: { save: async () => {} },
    agents: (name, model) => runner(driverNamed(name ?? options.program), model ?? progress.model),
    shell: redactedShell(superviseShell(place), redactor),
    workspace,
    projectFiles: projectFiles(agent.folder, sprintDir),
    cleanWorktree: async () => undefined,
    limits: options.limits,
    notes: async () => {
      const learned = await readTextIfThere(join(sprintDir, 'LEARNINGS.md'))
      return learned === undefined ? undefined : redactor()(learned)
    },
    lock: taskLock(agent.notes),
    hookSlots: options.hookSlots,
    notify: async () => {
      throw new RalphError('NOT_SUPPORTED', 'the backend sends notifications')
    },
    clock: systemClock,
    disk: (options.disk ?? diskOf)(sprintDir),
    random: Math.random,
    observe,
  }
}

/** Sprints whose first checkpoint exists. */
export const begunFile = (sprintDir: string): string => join(sprintDir, 'begun')

/** Checkpoint 0: the files before the first iteration. */
async function begin(sprintDir: string, workspace: Ports['workspace']): Promise<void> {
  const begun = begunFile(sprintDir)
  await makeFolder(sprintDir)
  if (exists(begun)) return
  // A broken repository costs the checkpoint, not the sprint.
  await workspace.start().catch(() => {})
  await writeFileAtomic(begun, '')
}

/**
 * The sandbox of `ralph run`, with write access to the notes, which are in another folder. Logs its protection once.
 */
async function sandboxFor(options: PortOptions): Promise<Sandbox | undefined> {
  const { agent, progress, env, ralphHomes, observe, sprintId } = options
  const alsoWritable = progress.protocol === 'notes' ? [agent.notes] : []
  const { sandbox: wanted } = progress
  const { sandbox, text } = await protectionFor({ wanted, env, cwd: agent.folder, ralphHomes, alsoWritable })
  const told = join(agent.home, 'protection', sprintId)
  if ((await readTextIfThere(told)) === text) return sandbox
  observe({ type: 'note', level: 'info', text: `sandbox: ${text}` })
  await makeFolder(dirname(told))
  await writeFileAtomic(told, text)
  return sandbox
}
