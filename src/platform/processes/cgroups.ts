import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type CgroupController = 'pids' | 'memory' | 'cpu'

/** A folder below which this process may create groups with a controller. */
export type CgroupParent = { readonly version: 1 | 2; readonly folder: string }

export type Cgroup = {
  readonly folder: string
  /** A process that writes its number here joins the group, with all that it starts. */
  readonly join: string
}

const parents = new Map<CgroupController, CgroupParent | undefined>()

/** Tries it once per controller: to see a folder of groups is not enough. Undefined where none can be created. */
export function findCgroupParent(controller: CgroupController): CgroupParent | undefined {
  if (!parents.has(controller)) parents.set(controller, searchParent(controller))
  return parents.get(controller)
}

/** Creates a group, or finds it again, and sets its limits. Throws if the kernel refuses one of them. */
export function createCgroup(
  { folder: parent }: CgroupParent,
  name: string,
  limits: Readonly<Record<string, string>>,
): Cgroup {
  const folder = join(parent, name)
  mkdirSync(folder, { recursive: true })
  for (const [file, value] of Object.entries(limits)) writeFileSync(join(folder, file), value)
  return { folder, join: join(folder, 'cgroup.procs') }
}

/** Ends what is left in a group, then removes it. A group whose processes are not reaped yet stays for a moment. */
export async function removeCgroup(folder: string): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    try {
      rmdirSync(folder)
      return
    } catch {
      killMembers(folder)
      await sleep(25)
    }
  }
}

function killMembers(folder: string): void {
  for (const pid of readLines(join(folder, 'cgroup.procs'))) {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
}

function searchParent(controller: CgroupController): CgroupParent | undefined {
  const mounts = readLines('/proc/self/mountinfo').map(parseMount)
  const own = readLines('/proc/self/cgroup').map((line) => line.split(':'))
  const candidates = mounts.flatMap(({ type, path, options }): CgroupParent[] => {
    const version = type === 'cgroup2' ? 2 : 1
    if (version === 1 && (type !== 'cgroup' || !options.split(',').includes(controller))) return []
    const mine = own.find(([, names = '']) => (version === 2 ? names === '' : names.split(',').includes(controller)))
    // With a namespace of groups the path of this process is not below the mount.
    const folder = join(path, mine?.[2] ?? '/')
    return [...new Set([folder, ...(version === 2 ? [dirname(folder)] : []), path])].map((each) => ({
      version,
      folder: each,
    }))
  })
  return candidates.find((parent) => isWritable(parent, controller))
}

const limitFiles = {
  pids: { 1: 'pids.max', 2: 'pids.max' },
  memory: { 1: 'memory.limit_in_bytes', 2: 'memory.max' },
  cpu: { 1: 'cpu.cfs_quota_us', 2: 'cpu.max' },
} as const

function isWritable({ version, folder }: CgroupParent, controller: CgroupController): boolean {
  if (version === 2 && !enableController(folder, controller)) return false
  const probe = join(folder, `ralph-probe-${process.pid}`)
  try {
    mkdirSync(probe)
  } catch {
    return false
  }
  try {
    const file = join(probe, limitFiles[controller][version])
    writeFileSync(file, readFileSync(file, 'utf8').trim())
    return true
  } catch {
    return false
  } finally {
    rmdirSync(probe)
  }
}

/** Groups below get a controller only if their parent hands it down. */
function enableController(folder: string, controller: CgroupController): boolean {
  const handed = join(folder, 'cgroup.subtree_control')
  if (readWords(handed).includes(controller)) return true
  if (!readWords(join(folder, 'cgroup.controllers')).includes(controller)) return false
  try {
    writeFileSync(handed, `+${controller}`)
    return true
  } catch {
    return false
  }
}

function parseMount(line: string): { readonly type: string; readonly path: string; readonly options: string } {
  const [before = '', after = ''] = line.split(' - ')
  const [type = '', , options = ''] = after.split(' ')
  return { type, path: before.split(' ')[4] ?? '/', options }
}

const readLines = (path: string): string[] => readIfPossible(path).split('\n').filter(Boolean)
const readWords = (path: string): string[] => readIfPossible(path).split(/\s+/).filter(Boolean)

function readIfPossible(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
