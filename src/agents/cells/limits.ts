import { createHash } from 'node:crypto'
import { formatSize, type CellLimits } from '../../contract/cell.ts'
import {
  createCgroup,
  findCgroupParent,
  removeCgroup,
  type CgroupController,
} from '../../platform/processes/cgroups.ts'
import type { CellTools, Command } from './cell.ts'

/** How a limit can be enforced on this machine. */
type Means = { readonly by: 'cgroup v1' | 'cgroup v2' | 'rlimit' | 'container'; readonly text: string }

/** Enough for a build with a thread per core and a browser, and an end to a fork bomb. Best effort, unlike what a sprint sets. */
const defaultProcesses = 4096

/** The limits of a cell on this machine. */
export type LimitPlan = {
  readonly cellLimits: CellLimits
  /** Whether Ralph enforces them; otherwise the cell does. */
  readonly isOwn: boolean
  /** One sentence part per limit, for the result. */
  readonly texts: readonly string[]
  /** Limits that the sprint set and this machine cannot enforce. */
  readonly missing: readonly string[]
}

const controllers = { processes: 'pids', memory: 'memory', cpus: 'cpu' } as const

/** Finds out which limits can hold here. The kernel never counts processes of root against an rlimit, so root needs a group. */
export function planLimits(limits: CellLimits, { holds }: Pick<CellTools, 'holds'> = {}): LimitPlan {
  const isRoot = process.getuid?.() === 0
  const byCell = (name: keyof CellLimits): Means | undefined =>
    holds?.includes(name) ? { by: 'container', text: '' } : undefined
  const isOwn = holds === undefined
  const cellLimits: CellLimits = { processes: defaultProcesses, ...limits }
  const means = {
    processes: byCell('processes') ?? (isOwn ? (byGroup('pids') ?? (isRoot ? undefined : byRlimit(''))) : undefined),
    memory: byCell('memory') ?? (isOwn ? (byGroup('memory') ?? byRlimit(' per process')) : undefined),
    cpus: byCell('cpus') ?? (isOwn ? byGroup('cpu') : undefined),
    disk: byRlimit(' per file'),
  }
  const shown: Readonly<Record<keyof CellLimits, (value: number) => string>> = {
    processes: String,
    memory: formatSize,
    cpus: String,
    disk: formatSize,
  }
  const names = ['processes', 'memory', 'cpus', 'disk'] as const
  return {
    cellLimits,
    isOwn,
    texts: names.flatMap((name) => {
      const [value, held] = [cellLimits[name], means[name]]
      if (value === undefined || held === undefined) return []
      const text = `${name} ${shown[name](value)}`
      return [`${text}${held.text} (${held.by})`, ...(name === 'disk' ? [`${text} in all (watched)`] : [])]
    }),
    missing: names.filter((name) => limits[name] !== undefined && means[name] === undefined),
  }
}

const byRlimit = (text: string): Means => ({ by: 'rlimit', text })

function byGroup(controller: CgroupController): Means | undefined {
  const parent = findCgroupParent(controller)
  return parent && { by: `cgroup v${parent.version}`, text: '' }
}

export type OpenedLimits = {
  /** Files that take the number of a process, which is in the group then. */
  readonly join: readonly string[]
  readonly close: () => Promise<void>
}

/** For what belongs to one attempt and lies outside of its folder. */
export const attemptName = (attemptFolder: string): string =>
  `ralph-${createHash('sha256').update(attemptFolder).digest('hex').slice(0, 16)}`

/** Creates the groups of one attempt; an attempt that is joined again finds its own. */
export function openLimits({ cellLimits, isOwn }: LimitPlan, attemptFolder: string): OpenedLimits {
  if (!isOwn) return { join: [], close: async () => {} }
  const name = attemptName(attemptFolder)
  const settings = new Map<
    string,
    { readonly parent: NonNullable<ReturnType<typeof findCgroupParent>>; files: object }
  >()
  for (const [key, controller] of Object.entries(controllers)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of an object literal
    const value = cellLimits[key as keyof typeof controllers]
    const parent = findCgroupParent(controller)
    if (value === undefined || !parent) continue
    const known = settings.get(parent.folder)?.files ?? {}
    settings.set(parent.folder, { parent, files: { ...known, ...groupFiles(controller, value, parent.version) } })
  }
  const groups = [...settings.values()].map(({ parent, files }) => createCgroup(parent, name, { ...files }))
  return {
    join: groups.map(({ join }) => join),
    close: async () => {
      for (const { folder } of groups) await removeCgroup(folder)
    },
  }
}

const cpuPeriod = 100_000

function groupFiles(controller: CgroupController, value: number, version: 1 | 2): Record<string, string> {
  const quota = `${Math.max(1000, Math.round(value * cpuPeriod))}`
  switch (controller) {
    case 'pids':
      return { 'pids.max': `${value}` }
    case 'memory':
      return version === 1 ? { 'memory.limit_in_bytes': `${value}` } : { 'memory.max': `${value}` }
    case 'cpu':
      return version === 1
        ? { 'cpu.cfs_period_us': `${cpuPeriod}`, 'cpu.cfs_quota_us': quota }
        : { 'cpu.max': `${quota} ${cpuPeriod}` }
  }
}

/**
 * The same command under rlimits, for what no group limits. Inside the cell's own user namespace, where only its own
 * processes count. dash knows the number of processes as -p, bash as -u.
 */
export function withRlimits(command: Command, { cellLimits, isOwn }: LimitPlan): Command {
  const { processes, memory, disk } = cellLimits
  const lines = [
    disk === undefined ? '' : `ulimit -f ${Math.ceil(disk / 512)}`,
    memory === undefined || !isOwn || byGroup('memory') ? '' : `ulimit -d ${Math.ceil(memory / 1024)}`,
    processes === undefined || !isOwn || byGroup('pids')
      ? ''
      : `{ ulimit -p ${processes} || ulimit -u ${processes}; } 2>/dev/null || :`,
  ].filter((line) => line !== '')
  if (lines.length === 0) return command
  const script = ['set -e', ...lines, 'exec "$@"'].join('\n')
  return { ...command, file: '/bin/sh', args: ['-c', script, 'cell', command.file, ...command.args] }
}
