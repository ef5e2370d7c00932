import { join } from 'node:path'
import { realPath } from '../../platform/files/files.ts'
import type { Driver } from '../drivers/driver.ts'
import { sandboxVariable, type Cell, type CellPlan, type CellSpec, type CellTools, type Command } from './cell.ts'
import { clearCellFolder, makeCellFolder, type CellPlace } from './cell-files.ts'
import { orderMounts } from './mounts.ts'
import { openNetwork, resolveRules, type CellNetwork, type NetworkReport } from './cell-network.ts'
import { findPlaces, homeFolder, resolveTold } from './places.ts'

export type Confined = {
  /** Names the state that its program may write. None for checks and hooks. */
  readonly driver?: Driver | undefined
  readonly folder: string
  readonly sprintDir: string
  readonly cwd: string
}

/** A cell around programs: agents, checks and hooks. */
export interface Sandbox {
  readonly kind: Cell['kind']
  /** The same program inside. Also called for an attempt that is joined: its network is served again. */
  readonly around: (program: Command, place: Confined) => Promise<Command>
  /** After the attempt: what it had for itself goes. */
  readonly clear: (place: Pick<Confined, 'folder' | 'sprintDir'>) => Promise<Cleared>
}

/** `planted`: files that the program left where git would obey them, and that were removed. */
export type Cleared = { readonly planted: readonly string[]; readonly network?: NetworkReport | undefined }

export type SandboxOptions = {
  readonly cell: Cell
  readonly tools: CellTools
  readonly spec: Pick<CellSpec, 'network' | 'limits' | 'read' | 'write'>
  readonly ralphHomes: readonly string[]
  /** One line for the user, e.g. about a host that was refused. */
  readonly onNote?: ((text: string) => void) | undefined
  /** Instead of the system's resolver, for tests. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined
}

export function openSandbox(options: SandboxOptions): Sandbox {
  const { cell, tools, spec, ralphHomes, onNote, resolve } = options
  const networks = new Map<string, CellNetwork>()
  // Once for all attempts: an agent can write lockfiles, and must not allow itself a host with one.
  const pinned = new Map<string, ReturnType<typeof resolveRules>>()
  return {
    kind: cell.kind,
    async around(program, { driver, folder, sprintDir, cwd }) {
      const env = cellEnvironment(program.env, cell.kind)
      const place: CellPlace = { folder, sprintDir, cwd, env }
      const files = await makeCellFolder(place)
      const asked = { spec: spec.network, folder: files.network, cwd, env: program.env, driver, onNote, resolve }
      const rules = pinned.get(driver?.name ?? '') ?? resolveRules(asked)
      pinned.set(driver?.name ?? '', rules)
      const network = await openNetwork({ ...asked, rules: await rules })
      networks.set(folder, network)
      const told = driver && toldFolder(folder)
      const programs = [process.execPath, program.file]
      const view = await findPlaces({ driver, cwd, sprintDir, told, env, programs, ralphHomes, files, ...spec })
      const plan: CellPlan = {
        cwd: realPath(cwd),
        mounts: orderMounts(view),
        network: spec.network === 'open' ? 'machine' : 'own',
        uid: files.uid,
        gid: files.gid,
        systemCallFilter: files.systemCallFilter,
        cgroups: [],
        folders: told === undefined ? [] : [resolveTold(told, sprintDir)],
        scratch: files.scratch,
      }
      const inside = network.around({ ...program, env: { ...env, ...network.env } })
      return cell.wrap(inside, plan, tools)
    },
    async clear(place) {
      const network = networks.get(place.folder)
      networks.delete(place.folder)
      await network?.close()
      return { planted: await clearCellFolder(place), network: network?.report() }
    },
  }
}

/** Where an attempt's agent may write besides its work: reports that it makes by a tool. */
const toldFolder = (folder: string): string => join(folder, 'told')

function cellEnvironment(env: Command['env'], kind: Cell['kind']): Record<string, string> {
  const home = homeFolder(env)
  const { XDG_CACHE_HOME: _cache, XDG_RUNTIME_DIR: _runtime, ...kept } = env
  return { ...kept, HOME: home, TMPDIR: '/tmp', [sandboxVariable]: kind }
}
