import { join } from 'node:path'
import type { Driver } from '../../agents/drivers/driver.ts'
import { identifyAccount } from '../../agents/supervise/environment.ts'
import { getDriver } from '../../agents/drivers/registry.ts'
import type { Sandbox } from '../../agents/cells/sandbox.ts'
import { superviseShell } from '../../agents/supervise/shell.ts'
import { superviseAgent } from '../../agents/supervise/supervisor.ts'
import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { systemClock } from '../../platform/clock.ts'
import { readTextIfExists } from '../../platform/files/files.ts'
import type { Ports, ProgressStore } from '../../runtime/ports.ts'
import { redactAgent, redactShell } from '../../runtime/redact-ports.ts'
import { limitConcurrency } from '../../runtime/limit-concurrency.ts'
import { openAccountLimits } from '../../storage/accounts/account-limits.ts'
import { createDiskPort } from '../../storage/sprint/disk.ts'
import { createProjectFiles } from '../../storage/git/project-files.ts'
import { createProjectRedactor } from '../../storage/accounts/secrets.ts'
import { removeNewLinks } from '../../storage/state/sprint-folder.ts'
import { openWorkspace } from '../../storage/git/workspace.ts'
import { commitToBranch, removeWorktree } from '../../storage/git/worktree.ts'
import { requireInstalledDriver } from '../agents/choose-agent.ts'
import { ralphHome } from '../io/ralph-home.ts'
import type { Io } from '../io/io.ts'
import { createNotifier } from './notifier.ts'
import { createRunProver } from './run-prover.ts'

/** Maximum number of hooks at once. */
const hookSlots = 4

export type RunWiring = {
  readonly sprintDir: string
  readonly project: string
  /** Where the agent works: the project, or the same folder in the sprint's worktree. */
  readonly folder: string
  readonly progress: Progress
  /** First choice, then fallbacks; all of them are installed. */
  readonly drivers: readonly [Driver, ...Driver[]]
  readonly model: string | undefined
  /** Wraps every agent. Checks and hook commands are the user's own and run without it. */
  readonly sandbox?: Sandbox | undefined
  readonly store: ProgressStore
  readonly observe: (event: SprintEvent) => void
}

/** Creates the runtime's ports on this machine. */
export async function createRunPorts(wiring: RunWiring, io: Io): Promise<Ports> {
  const { sprintDir, project, folder, progress, drivers, store, observe, sandbox } = wiring
  const { worktree } = progress
  const place = { sprintDir, cwd: folder, env: io.env }
  const redactor = createProjectRedactor(folder, io.env)
  const settings = { project, pass: progress.env?.pass ?? [], prices: progress.prices, sandbox }
  const guard = removeNewLinks(sprintDir)
  const agent = (driver: Driver, model: string | undefined) =>
    redactAgent(guard(superviseAgent({ ...place, ...settings, driver, model })), redactor)
  const [first] = drivers
  const shell = redactShell(superviseShell(place), redactor)
  const workspace = await openWorkspace({ project: folder, sprintDir, sprintId: progress.sprintId })
  return {
    store,
    agents: (name, model) => {
      if (name === undefined || name === first.name) return agent(first, model ?? wiring.model)
      return agent(
        drivers.find((driver) => driver.name === name) ?? requireInstalledDriver(name, { ...io, cwd: project }),
        model,
      )
    },
    shell,
    workspace: worktree && folder !== project ? commitToBranch(workspace, folder, worktree.branch) : workspace,
    projectFiles: createProjectFiles(folder, sprintDir),
    prover: createRunProver({ ...wiring, redact: (text) => redactor()(text) }, io),
    cleanWorktree: async () => worktree && removeWorktree({ project, worktree }),
    limits: openAccountLimits(ralphHome(io), (name) => identifyAccount(getDriver(name), io.env)),
    notes: async () => {
      const notes = await readTextIfExists(join(sprintDir, 'LEARNINGS.md'))
      return notes === undefined ? undefined : redactor()(notes)
    },
    hookSlots: limitConcurrency(hookSlots),
    notify: createNotifier(shell, io),
    clock: systemClock,
    disk: createDiskPort(sprintDir),
    random: Math.random,
    observe,
  }
}
