import { setTimeout as sleep } from 'node:timers/promises'
import { basename, dirname, join } from 'node:path'
import type { StartedDemo } from '../../contract/fleet/operation-routes.ts'
import { RalphError } from '../../contract/errors.ts'
import { ensureProjectAgent, findProjectAgent } from '../../backend/agents/project-agent.ts'
import type { Fleet } from '../../backend/fleet/fleet.ts'
import { readObservation } from '../../backend/sprints/observed-sprints.ts'
import { createFolder, exists, listFolder, realPath } from '../../platform/files/files.ts'
import { startDetached } from '../../platform/processes/detached-process.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import type { Io } from '../io/io.ts'
import { createDemoProject, demoSprintFolder } from '../sprint/demo-project.ts'
import { observeSprints, type SprintObserver } from './observe-sprints.ts'
import { observedRowId } from './observed-sprint.ts'
import type { ServeLog } from './project-agent.ts'

export type DemoPlace = { readonly fleet: Fleet; readonly machineId: string; readonly userName: string }

export interface DemoSprints {
  readonly observers: () => readonly SprintObserver[]
  /** Shows the demo sprints that an earlier `ralph serve` has started. */
  readonly show: (place: DemoPlace) => Promise<void>
  /** Starts a sprint on a new sample project with the scripted agent; while one runs, it returns that one. */
  readonly start: (place: DemoPlace) => Promise<StartedDemo>
  readonly close: () => Promise<void>
}

/** The folder with the sample projects: a user may open and keep them, so nothing in it is ever removed. */
const demoFolder = (io: Io): string => join(io.env['HOME'] || '/', 'ralph-demo')

/** Sprints without an agent program and without a key, for the page. Each runs as `ralph run` in its own project. */
export function createDemoSprints(io: Io, log: ServeLog): DemoSprints {
  const observers = new Map<string, SprintObserver>()
  const warn = (text: string, about: Readonly<Record<string, unknown>>): void => log('warn', text, about)
  const observe = (fleet: Fleet, project: string, agentId: string): void => {
    if (observers.has(project)) return
    const sprints = dirname(demoSprintFolder(project))
    observers.set(project, observeSprints({ fleet, agentId, sprints, log: warn }))
  }
  const start = async ({ fleet, machineId, userName }: DemoPlace): Promise<StartedDemo> => {
    const project = (await findRunning(io)) ?? (await startNew(io))
    const folder = { machineId, folder: project, name: basename(project), program: 'scripted' }
    const agent = await ensureProjectAgent(fleet, folder, { name: userName })
    observe(fleet, project, agent.id)
    const sprintId = observedRowId(agent.id, basename(demoSprintFolder(project)))
    await waitForRow(fleet, sprintId)
    return { agentId: agent.id, sprintId }
  }
  let starting: Promise<StartedDemo> | undefined
  return {
    observers: () => [...observers.values()],
    show: async ({ fleet, machineId }) => {
      for (const project of await listProjects(io)) {
        const agent = await findProjectAgent(fleet, { machineId, folder: project })
        if (agent) observe(fleet, project, agent.id)
      }
    },
    // Two clicks start one demo.
    start: (place) => (starting ??= start(place).finally(() => (starting = undefined))),
    close: async () => {
      await Promise.all([...observers.values()].map((observer) => observer.close()))
    },
  }
}

async function listProjects(io: Io): Promise<string[]> {
  const folder = demoFolder(io)
  const names = exists(folder) ? await listFolder(folder) : []
  return names.map((name) => join(realPath(folder), name)).filter((project) => exists(demoSprintFolder(project)))
}

const findRunning = async (io: Io): Promise<string | undefined> =>
  (await listProjects(io)).find((project) => readSprintOwner(demoSprintFolder(project)) !== undefined)

async function startNew(io: Io): Promise<string> {
  await createFolder(demoFolder(io))
  const folder = realPath(demoFolder(io))
  const project = join(folder, freeName(new Set(await listFolder(folder))))
  const sprintDir = await createDemoProject(project)
  await startDetached({
    file: process.execPath,
    args: [process.argv[1] ?? '', 'run', sprintDir, '--plain'],
    cwd: project,
    env: io.env,
    log: join(folder, `${basename(project)}.log`),
  })
  return project
}

function freeName(taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? 'pancakes' : `pancakes-${n}`
    if (!taken.has(name)) return name
  }
}

const rowTimeoutMs = 30_000
const pollIntervalMs = 100

/** The page opens the sprint at once, so its row must exist. */
async function waitForRow(fleet: Fleet, sprintId: string): Promise<void> {
  const deadline = performance.now() + rowTimeoutMs
  while ((await readObservation(fleet, sprintId)) === undefined) {
    if (performance.now() > deadline) {
      throw new RalphError('NOT_RUNNING', 'the demo did not start', { hint: 'its log is in the folder ralph-demo' })
    }
    await sleep(pollIntervalMs)
  }
}
