import { join } from 'node:path'
import type { NetworkUse, Walls, WallsUse } from '../../contract/cell.ts'
import { realPath } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import type { Driver } from '../drivers/driver.ts'
import {
  sandboxVariable,
  type Cell,
  type CellPlan,
  type CellSpec,
  type CellTools,
  type Command,
  type NetworkSpec,
} from './cell.ts'
import { clearCellFolder, makeCellFolder, type CellFolder } from './cell-files.ts'
import { watchDisk, type DiskWatch } from './disk-watch.ts'
import { holdKeys, type HeldKeys } from './placeholder-keys.ts'
import { attemptName, openLimits, planLimits, withRlimits, type LimitPlan, type OpenedLimits } from './limits.ts'
import { orderMounts } from './mounts.ts'
import { openNetwork, pinRules, type CellNetwork, type NetworkReport } from './cell-network.ts'
import type { Rule } from './network/allow-list.ts'
import { cachesFolder, findPlaces, homeFolder, resolveReportFolder } from './places.ts'

export type ConfinedProgram = {
  /** Names the state that its program may write. None for checks and hooks. */
  readonly driver?: Driver | undefined
  readonly folder: string
  readonly sprintDir: string
  readonly cwd: string
  /** More folders for this program alone. */
  readonly read?: readonly string[] | undefined
  readonly write?: readonly string[] | undefined
  /** One line for the user, e.g. about a host that was refused. */
  readonly onNote?: ((text: string) => void) | undefined
}

/** A cell around programs: agents, checks and hooks. */
export interface Sandbox {
  readonly kind: Cell['kind']
  /** The same program inside. Also called for an attempt that is joined: its network is served again. */
  readonly around: (program: Command, place: ConfinedProgram) => Promise<Command>
  /** Asked while the attempt runs: whether it wrote more than the limit of the cell. */
  readonly isDiskOver: (folder: string) => boolean
  /** Call it after the attempt: removes its private files and closes its network. */
  readonly clear: (place: Pick<ConfinedProgram, 'folder' | 'sprintDir' | 'onNote'>) => Promise<WallsUse>
}

/** Of a program that runs as the user. */
export const noWalls: WallsUse = { cell: 'none', network: 'open' }

export type SandboxOptions = {
  readonly cell: Cell
  readonly tools: CellTools
  readonly spec: CellSpec
  readonly ralphHomes: readonly string[]
  /** Instead of the system's resolver, for tests. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined
}

export function openSandbox(options: SandboxOptions): Sandbox {
  const { cell, tools, spec, ralphHomes, resolve } = options
  const limits = planLimits(spec.limits, tools)
  const attempts = new Map<string, Attempt>()
  // One line per sprint for each refused host.
  const noted = new Set<string>()
  // Once for all attempts: an agent can write lockfiles, and must not allow itself a host with one.
  const pinned = new Map<string, ReturnType<typeof pinRules>>()
  return {
    kind: cell.kind,
    async around(program, { driver, folder, sprintDir, cwd, onNote, read = [], write = [] }) {
      const env = cellEnvironment(program.env, cell.kind)
      const files = await makeCellFolder({ folder, sprintDir, cwd, env, driver, shared: cachesFolder(ralphHomes) })
      const note = onNote && once(noted, onNote)
      const perl = tools.container && tools.perl
      const request = {
        spec: spec.network,
        folder: files.network,
        cwd,
        env: program.env,
        driver,
        onNote: note,
        resolve,
        perl,
      }
      const rules = pinned.get(driver?.name ?? '') ?? pinRules(request, hostsFolder(ralphHomes, sprintDir))
      pinned.set(driver?.name ?? '', rules)
      const keys = driver && spec.keys === 'placeholder' ? await holdKeys(program, driver, files.base) : undefined
      const network = await openNetwork({ ...request, rules: [...gatewayRule(keys), ...(await rules)] })
      const groups = openLimits(limits, folder)
      const reportFolder = driver && findReportFolder(folder)
      const own = { env, programs: [process.execPath, program.file], ralphHomes, files, ...spec }
      const also = { read: [...spec.read, ...read], write: [...spec.write, ...write] }
      const view = await findPlaces({ driver, cwd, sprintDir, reportFolder, ...own, ...also })
      const plan: CellPlan = {
        ...describeFiles(files),
        cwd: realPath(cwd),
        mounts: orderMounts(view),
        network: spec.network === 'open' ? 'machine' : 'own',
        limits: limits.cellLimits,
        name: attemptName(folder),
        cgroups: groups.join,
        folders: reportFolder === undefined ? [] : [resolveReportFolder(reportFolder, sprintDir)],
      }
      attempts.set(folder, { network, limits: groups, keys, disk: openDiskWatch(limits, files, plan) })
      const bare = keys?.command ?? program
      const variables = { ...cellEnvironment(bare.env, cell.kind), ...network.env }
      return cell.wrap(withRlimits(network.around({ ...bare, env: variables }), limits), plan, tools)
    },
    isDiskOver: (folder) => attempts.get(folder)?.disk?.isOver() ?? false,
    async clear(place) {
      const attempt = attempts.get(place.folder)
      attempts.delete(place.folder)
      await cell.end?.(attemptName(place.folder), tools)
      if (attempt) await closeAttempt(attempt)
      for (const line of await clearCellFolder(place)) place.onNote?.(line)
      const { mode = networkMode(spec.network), ...visits } = attempt?.network.report() ?? {}
      return { cell: cell.kind, network: mode, ...limitTexts(limits), ...hostNames(visits) }
    },
  }
}

type Attempt = {
  readonly network: CellNetwork
  readonly limits: OpenedLimits
  readonly keys: HeldKeys | undefined
  readonly disk: DiskWatch | undefined
}

async function closeAttempt({ disk, network, keys, limits }: Attempt): Promise<void> {
  disk?.close()
  await network.close()
  await keys?.close()
  await limits.close()
}

const describeFiles = ({ uid, gid, systemCallFilter, scratch }: CellFolder) => ({ uid, gid, systemCallFilter, scratch })

function openDiskWatch({ cellLimits }: LimitPlan, { base }: CellFolder, { mounts }: CellPlan): DiskWatch | undefined {
  if (cellLimits.disk === undefined) return undefined
  const written = mounts.flatMap((mount) => (mount.kind === 'bind' && mount.write ? [mount.from] : []))
  return watchDisk([base, ...written], cellLimits.disk)
}

/** Lets the program reach the server that stands in for its model. */
const gatewayRule = (keys: HeldKeys | undefined): Rule[] =>
  keys ? [{ host: '127.0.0.1', port: keys.port, private: true }] : []

const once = (known: Set<string>, say: (text: string) => void) => (text: string) => {
  if (known.has(text)) return
  known.add(text)
  say(text)
}

export const networkMode = (network: NetworkSpec): Walls['network'] =>
  typeof network === 'string' ? network : 'allow-list'

const limitTexts = ({ texts }: LimitPlan) => (texts.length === 0 ? {} : { limits: [...texts] })

/** For the receipt; absent if nothing was asked for. */
function hostNames(report: Partial<NetworkReport>): { hosts?: NetworkUse } {
  const { allowed = {}, refused = {}, private: inside = {} } = report
  const hosts = {
    ...rankHosts('allowed', allowed),
    ...rankHosts('refused', refused),
    ...rankHosts('private', inside),
  }
  return Object.keys(hosts).length === 0 ? {} : { hosts }
}

/** The most requested hosts first. */
function rankHosts(name: keyof NetworkUse, counts: Readonly<Record<string, number>>): NetworkUse {
  const ranked = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
  return ranked.length === 0 ? {} : { [name]: ranked.map(([host]) => host) }
}

/** By the state of the sprint, which has its number: a new sprint in the same folder looks again. */
function hostsFolder(ralphHomes: readonly string[], sprintDir: string): string | undefined {
  const caches = cachesFolder(ralphHomes)
  return caches && join(caches, 'hosts', attemptName(stateFolder(sprintDir)))
}

/** Where an attempt's agent may write besides its work: reports that it makes by a tool. */
const findReportFolder = (folder: string): string => join(folder, 'told')

function cellEnvironment(env: Command['env'], kind: Cell['kind']): Record<string, string> {
  const home = homeFolder(env)
  const { XDG_CACHE_HOME: _cache, XDG_RUNTIME_DIR: _runtime, ...kept } = env
  return { ...kept, HOME: home, TMPDIR: '/tmp', [sandboxVariable]: kind }
}
