import { errorMessage } from '../../contract/errors.ts'
import { basename, join } from 'node:path'
import type { Fleet } from '../../backend/fleet/fleet.ts'
import { ensureProjectAgent } from '../../backend/agents/project-agent.ts'
import { exists, isFolder, realPath } from '../../platform/files/files.ts'
import { installedAgents, realDrivers } from '../agents/choose-agent.ts'
import type { Io } from '../io/io.ts'
import { observeSprints, type SprintObserver } from './observe-sprints.ts'

export type ServeLog = (level: 'info' | 'warn', text: string, about?: Readonly<Record<string, unknown>>) => void

export type ProjectView = {
  /** Absent until the agent exists. */
  readonly observer: () => SprintObserver | undefined
  /** Creates the agent of the folder and observes its sprints; returns immediately. */
  readonly show: (place: { readonly fleet: Fleet; readonly machineId: string; readonly userName: string }) => void
  readonly close: () => Promise<void>
}

/** The project that `ralph serve` was started in: its agent, and the sprints that users run there themselves. */
export function createProjectView(io: Io, log: ServeLog): ProjectView {
  const own: { observer?: SprintObserver; closed?: true } = {}
  const begin = async (fleet: Fleet, machineId: string, userName: string) => {
    const agent = await ensureProjectAgent(fleet, { machineId, ...describeProject(io) }, { name: userName })
    if (own.closed) return
    own.observer = observeSprints({
      fleet,
      agentId: agent.id,
      sprints: join(io.cwd, '.claude', 'sprints'),
      log: (text, about) => log('warn', text, about),
    })
  }
  return {
    observer: () => own.observer,
    show: ({ fleet, machineId, userName }) => {
      if (!isProject(io)) return
      begin(fleet, machineId, userName).catch((error: unknown) => {
        const why = errorMessage(error)
        if (!own.closed) log('warn', `the sprints of this folder cannot be shown: ${why}`)
      })
    },
    close: async () => {
      own.closed = true
      await own.observer?.close()
    },
  }
}

/** Whether a folder is a project: not a home folder, and not the root of the disk. */
export function isProject({ cwd, env }: Pick<Io, 'cwd' | 'env'>): boolean {
  const home = env['HOME']
  if (cwd === '/' || (home !== undefined && exists(home) && realPath(home) === realPath(cwd))) return false
  return exists(join(cwd, '.git')) || isFolder(join(cwd, '.claude', 'sprints'))
}

/** The program that `ralph run` would choose there. */
export function describeProject(io: Io) {
  const folder = realPath(io.cwd)
  const [found] = installedAgents(io)
  const names = realDrivers().flatMap(({ name }) => (name.includes(':') ? [] : [name]))
  const problem = `install one of ${names.join(', ')}, then start ralph serve again`
  const chosen = found ? { program: found.name } : { program: names[0] ?? 'claude', problem }
  return { folder, name: basename(folder), ...chosen }
}
