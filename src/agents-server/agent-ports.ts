import { join } from 'node:path'
import type { Driver } from '../agents/driver.ts'
import { accountOf } from '../agents/environment.ts'
import { driverNamed } from '../agents/registry.ts'
import { probeSandbox, type Capability } from '../agents/sandbox/probe.ts'
import { bubblewrapSandbox, type Sandbox } from '../agents/sandbox/sandbox.ts'
import { superviseShell } from '../agents/shell.ts'
import { superviseAgent } from '../agents/supervisor.ts'
import { RalphError } from '../contract/errors.ts'
import type { SprintEvent } from '../contract/events.ts'
import type { Progress } from '../contract/progress.ts'
import { systemClock } from '../platform/clock.ts'
import { exists, makeFolder, readTextIfThere } from '../platform/files.ts'
import { writeFileAtomic } from '../platform/atomic-file.ts'
import type { AccountLimits, AgentRunner, Ports } from '../runtime/ports.ts'
import { redactedAgent, redactedShell } from '../runtime/redacted.ts'
import { accountLimits } from '../storage/account-limits.ts'
import { diskOf } from '../storage/disk.ts'
import { projectFiles } from '../storage/project-files.ts'
import { redactorFor } from '../storage/secrets.ts'
import { withoutNewLinks } from '../storage/sprint-folder.ts'
import { openWorkspace } from '../storage/workspace.ts'
import type { LocalAgent } from './agents.ts'
import { taskLock } from './notes.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type PortOptions = {
  readonly agent: LocalAgent
  readonly sprintId: string
  /** The agent program that is asked if the progress names no other. */
  readonly program: string
  readonly progress: Progress
  readonly env: Environment
  readonly home: string
  readonly limits: AccountLimits
  readonly hookSlots: Ports['hookSlots']
  readonly observe: (event: SprintEvent) => void
}

/** A sprint's own folder within the agent's: attempts, transcripts, copies of protected files. */
export const sprintFolder = (agent: LocalAgent, sprintId: string): string => join(agent.home, 'sprints', sprintId)

/** Usage limits of the accounts of this machine, shared by all its agents and by `ralph run`. */
export const limitsOf = (home: string, env: Environment): AccountLimits =>
  accountLimits(home, (name) => accountOf(driverNamed(name), env))

/** The runtime's ports for one order of a sprint: what `ralph run` works with, in the workspace of an agent. */
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
      throw new RalphError('NOT_SUPPORTED', 'people are told by the backend')
    },
    clock: systemClock,
    disk: diskOf(sprintDir),
    random: Math.random,
    observe,
  }
}

/** A sprint whose first checkpoint was made. */
export const begunFile = (sprintDir: string): string => join(sprintDir, 'begun')

/** Checkpoint 0: the files as they are before the first iteration. */
async function begin(sprintDir: string, workspace: Ports['workspace']): Promise<void> {
  const begun = begunFile(sprintDir)
  await makeFolder(sprintDir)
  if (exists(begun)) return
  // A repository in trouble costs the checkpoint, not the sprint.
  await workspace.start().catch(() => {})
  await writeFileAtomic(begun, '')
}

let capability: Promise<Capability> | undefined

/** As `ralph run` does it. Notes lie where a sandboxed agent cannot write, so the notes protocol has none yet. */
async function sandboxFor({ agent, progress, env, home }: PortOptions): Promise<Sandbox | undefined> {
  const { sandbox: wanted = 'auto', protocol } = progress
  if (wanted === 'off' || (wanted === 'auto' && (env['IS_SANDBOX'] || protocol === 'notes'))) return undefined
  if (protocol === 'notes') throw unavailable('an agent in a sandbox could not write its notes')
  capability ??= probeSandbox({ platform: process.platform, path: env['PATH'] ?? '', cwd: agent.folder })
  const found = await capability
  if (found.kind === 'bubblewrap') {
    return bubblewrapSandbox(found, { ralphHome: home, asRoot: process.getuid?.() === 0 })
  }
  if (wanted === 'auto') return undefined
  throw unavailable(found.reason)
}

const unavailable = (why: string): RalphError =>
  new RalphError('SANDBOX_UNAVAILABLE', `the sprint requires a sandbox: ${why}`)
