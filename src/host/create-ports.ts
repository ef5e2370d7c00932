import type { Sandbox } from '../agents/cells/sandbox.ts'
import type { Driver } from '../agents/drivers/driver.ts'
import { getDriver } from '../agents/drivers/registry.ts'
import { identifyAccount } from '../agents/supervise/environment.ts'
import { superviseShell } from '../agents/supervise/shell.ts'
import { superviseAgent } from '../agents/supervise/supervisor.ts'
import type { Progress } from '../contract/progress.ts'
import { readPlainText } from '../platform/files/files.ts'
import { systemClock } from '../platform/clock.ts'
import type { AccountLimits, AgentRunner, ClaimProver, Ports, ShellRunner } from '../runtime/ports.ts'
import { redactAgent, redactShell } from '../runtime/redact-ports.ts'
import { openAccountLimits } from '../storage/accounts/account-limits.ts'
import { createProjectRedactor } from '../storage/accounts/secrets.ts'
import { showOnBranch } from '../storage/git/checkpoint-branch.ts'
import { createProjectFiles } from '../storage/git/project-files.ts'
import { openWorkspace } from '../storage/git/workspace.ts'
import { commitToBranch, removeWorktree } from '../storage/git/worktree.ts'
import { createDiskPort } from '../storage/sprint/disk.ts'
import { readLearnings } from '../storage/sprint/learnings.ts'
import { createLinkRemover, sharedContextPath } from '../storage/state/sprint-folder.ts'

/** The environment that agents inherit from. */
export type HostEnvironment = Readonly<Record<string, string | undefined>>

/** What a prover of claims needs to know about a sprint. */
export type ProverWiring = {
  readonly sprintDir: string
  /** What claims are measured against, out of the agent's reach. */
  readonly state: string
  /** Folders that checks must not see, besides `$RALPH_HOME`. */
  readonly hidden: readonly string[]
  /** Where the agent works. */
  readonly folder: string
  readonly progress: Progress
  /** What wraps agents; absent: they run as the user. */
  readonly sandbox?: Sandbox | undefined
  /** Removes secrets from output. */
  readonly redact: (text: string) => string
}

type ChosenAgent = { readonly driver: Driver; readonly model: string | undefined }

export type PortOptions = Pick<Ports, 'store' | 'limits' | 'hookSlots' | 'observe' | 'drained' | 'lock'> & {
  readonly sprintDir: string
  readonly sprintId: string
  readonly project: string
  /** Where agents, checks and hooks run: the project, or the same folder in the sprint's worktree. */
  readonly folder: string
  readonly progress: Progress
  readonly env: HostEnvironment
  /** Wraps agents, checks, gates and hook commands; a hook with `cell: none` runs without it. */
  readonly sandbox: Sandbox | undefined
  /** Resolves the agent and model that an order names; throws if the program is not installed. */
  readonly chooseAgent: (name: string | undefined, model: string | undefined) => ChosenAgent
  readonly createNotify: (shell: ShellRunner) => Ports['notify']
  /** Absent: exit codes in the work tree decide about claims. */
  readonly createProver?: ((redact: ProverWiring['redact']) => ClaimProver) | undefined
  readonly createDisk?: typeof createDiskPort | undefined
  /** `TRACEPARENT` of an attempt, if the run is traced. */
  readonly traceparent?: ((attempt: string) => string | undefined) | undefined
}

/** Creates the runtime's ports on this computer, for a run in a terminal and for the orders of a backend. */
export async function createPorts(options: PortOptions): Promise<Ports> {
  const { sprintDir, sprintId, project, folder, progress, env, sandbox, lock } = options
  const { worktree } = progress
  const onNote = (text: string) => options.observe({ type: 'note', level: 'warning', text })
  const place = { sprintDir, cwd: folder, env, onNote }
  const redactor = createProjectRedactor(folder, env)
  const pass = progress.env?.pass ?? []
  const settings = { project, pass, prices: progress.prices, sandbox, traceparent: options.traceparent }
  const removeNewLinks = createLinkRemover(sprintDir)
  const activity = createActivityCount()
  const workspace = await openWorkspace(
    { project: folder, sprintDir, sprintId },
    {
      activity: activity.read,
      onSkipped: (skipped) => onNote(describeSkipped(skipped)),
      onProgress: (text) => options.observe({ type: 'note', level: 'info', text }),
      onUnpinned: (reason) => onNote(`checkpoints are in Ralph's store only, not in your repository: ${reason}`),
    },
  )
  const redactedShell = redactShell(superviseShell({ ...place, pass, cell: sandbox }), redactor)
  const shell: ShellRunner = {
    run: (request, signal) => activity.count(() => redactedShell.run(request, signal)),
  }
  const hasWorktree = worktree !== undefined && folder !== project
  return {
    store: options.store,
    agents: (name, model) => {
      const supervised = superviseAgent({ ...place, ...settings, ...options.chooseAgent(name, model) })
      const agent = redactAgent(supervised, redactor)
      const run: AgentRunner['run'] = async (request, signal) => {
        try {
          return await agent.run(request, signal)
        } finally {
          await removeNewLinks()
        }
      }
      return { ...agent, run: (request, signal) => activity.count(() => run(request, signal)) }
    },
    shell,
    workspace: hasWorktree
      ? commitToBranch(workspace, folder, worktree.branch)
      : progress.checkpoint === 'branch'
        ? showOnBranch(workspace, folder, `ralph/${sprintId}`)
        : workspace,
    projectFiles: createProjectFiles(folder, sprintDir),
    ...(options.createProver && { prover: options.createProver((text) => redactor()(text)) }),
    cleanWorktree: async () => worktree && removeWorktree({ project, worktree }),
    limits: options.limits,
    notes: () => readLearnings(sprintDir, redactor),
    sharedContext: async () => readPlainText(sharedContextPath(sprintDir)),
    ...(lock && { lock }),
    hookSlots: options.hookSlots,
    notify: options.createNotify(shell),
    clock: systemClock,
    disk: (options.createDisk ?? createDiskPort)(sprintDir),
    random: Math.random,
    observe: options.observe,
    drained: options.drained,
  }
}

/** Counts starts and ends of programs: between two of them, only the user changes files. */
function createActivityCount() {
  let count = 0
  let running = 0
  const change = (by: 1 | -1) => {
    count += 1
    running += by
  }
  return {
    read: () => (running === 0 ? count : undefined),
    count: <T>(run: () => Promise<T>): Promise<T> => {
      change(1)
      return run().finally(() => change(-1))
    },
  }
}

const describeSkipped = (skipped: readonly string[]): string =>
  `no checkpoint contains ${skipped.slice(0, 3).join('; ')}${skipped.length > 3 ? `; and ${skipped.length - 3} more` : ''}`

/** Usage limits of this computer's accounts, shared by all its agents and by `ralph run`. */
export const openMachineLimits = (home: string, env: HostEnvironment): AccountLimits =>
  openAccountLimits(home, (name) => identifyAccount(getDriver(name), env))
