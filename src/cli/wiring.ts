import { join } from 'node:path'
import type { Driver } from '../agents/driver.ts'
import { superviseShell } from '../agents/shell.ts'
import { superviseAgent } from '../agents/supervisor.ts'
import type { SprintEvent } from '../contract/events.ts'
import type { Progress } from '../contract/progress.ts'
import { systemClock } from '../platform/clock.ts'
import { readTextIfThere } from '../platform/files.ts'
import type { Ports, ProgressStore } from '../runtime/ports.ts'
import { slots } from '../runtime/slots.ts'
import { accountLimits } from '../storage/account-limits.ts'
import { projectFiles } from '../storage/project-files.ts'
import { openWorkspace } from '../storage/workspace.ts'
import { driverOf } from './choose-agent.ts'
import { ralphHome } from './compile-sprint.ts'
import type { Io } from './io.ts'
import { notifier } from './notifier.ts'

/** Hooks that may run at the same time. */
const hookSlots = 4

export type Wiring = {
  readonly sprintDir: string
  readonly project: string
  readonly progress: Progress
  /** First choice, then fallbacks; all of them installed. */
  readonly drivers: readonly [Driver, ...Driver[]]
  readonly model: string | undefined
  readonly store: ProgressStore
  readonly observe: (event: SprintEvent) => void
}

/** The runtime's ports, on this machine. */
export async function wire(wiring: Wiring, io: Io): Promise<Ports> {
  const { sprintDir, project, progress, drivers, store, observe } = wiring
  const place = { sprintDir, cwd: project, env: io.env }
  const agent = (driver: Driver, model: string | undefined) =>
    superviseAgent({ ...place, driver, model, pass: progress.env?.pass ?? [], prices: progress.prices })
  const [first] = drivers
  const shell = superviseShell(place)
  return {
    store,
    agents: (name, model) => {
      if (name === undefined || name === first.name) return agent(first, model ?? wiring.model)
      return agent(drivers.find((driver) => driver.name === name) ?? driverOf(name, io), model)
    },
    shell,
    workspace: await openWorkspace({ project, sprintDir, sprintId: progress.sprintId }),
    projectFiles: projectFiles(project, sprintDir),
    limits: accountLimits(ralphHome(io)),
    notes: () => readTextIfThere(join(sprintDir, 'LEARNINGS.md')),
    hookSlots: slots(hookSlots),
    notify: notifier(shell, io),
    clock: systemClock,
    random: Math.random,
    observe,
  }
}
