import { randomUUID } from 'node:crypto'
import { join, posix } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { serialize } from '../../platform/async.ts'
import {
  copyFolder,
  diskSpace,
  isFolder,
  createFolder,
  createPrivateFolder,
  listTree,
  realPath,
  removeFile,
  removeFolder,
} from '../../platform/files/files.ts'
import { createLink } from '../../platform/files/links.ts'
import { removeLayers } from './bubblewrap.ts'
import type { CommandResult, Enclosure, RoomMount } from './enclosure.ts'
import { roomEnvironment } from './environment.ts'
import type { OwnGit, TreeEdit, TreeEntry } from './own-git.ts'
import { writeRoomGit } from './room-git.ts'

export type RoomOptions = {
  readonly own: OwnGit
  /** The real path of the project: with namespaces the room stands there. */
  readonly project: string
  /** Ralph's own folder for the room, not readable to agents. */
  readonly folder: string
  readonly enclosure: Enclosure
  /** The environment of the person, of which an allow-list is taken. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** An ignored folder with installed packages. */
export type DependencyMount = {
  /** Relative to the project. */
  readonly at: string
  readonly from: string
  /** Names in it that are not shown. */
  readonly without: readonly string[]
}

/** A file outside of every tree, in the own git folder. */
export type KeptFile = { readonly path: string; readonly entry: TreeEntry }

export type RoomJob = {
  /** A tree of the own git folder. */
  readonly tree: string
  /** For `/bin/sh`. */
  readonly command: string
  readonly timeoutMs: number
  readonly network?: boolean
  readonly pass?: readonly string[]
  /** Variables of Ralph's own making: the reporter of a test runner. */
  readonly variables?: Readonly<Record<string, string>>
  readonly dependencies?: readonly DependencyMount[]
  /** Files and folders outside the project that are laid into the room for this run only. */
  readonly heldOut?: readonly { readonly from: string; readonly at: string }[]
  /** Files that git ignores, as they were at the start: they replace what the tree has there. */
  readonly kept?: readonly KeptFile[]
  /** Folders for the results of a reporter, seen at the same path. */
  readonly writable?: readonly string[]
  readonly readable?: readonly string[]
  readonly signal?: AbortSignal
}

/** Names of files that a command left. */
export type LeftFiles = {
  /** In its home or temporary folder. */
  readonly outside: readonly string[]
  /** In the project, where that is known. */
  readonly inProject: readonly string[]
}

export type RoomRun = {
  /** Null if it was killed. */
  readonly exitCode: number | null
  readonly output: string
  readonly durationMs: number
  /** What the room took besides the command. */
  readonly overheadMs: number
  readonly timedOut: boolean
  /** Killed because it printed too much. */
  readonly flooded?: true
  /** It failed on a disk without space. */
  readonly isDiskFull?: true
  readonly room: 'clean' | 'plain' | 'in-place'
  readonly left: LeftFiles
  readonly notes: readonly string[]
}

export type Room = {
  readonly kind: 'clean' | 'plain'
  /** The project's path as commands see it. */
  readonly path: string
  /** Writes the tree, so that a claim finds most of it there. */
  readonly fill: (tree: string) => Promise<void>
  readonly run: (job: RoomJob) => Promise<RoomRun>
  /** Waits until discarded files are deleted. */
  readonly close: () => Promise<void>
}

const leastFreeBytes = 64 * 1024 * 1024

/**
 * A work tree that no agent has touched. It is kept and follows each tree; what a command writes is thrown away. Runs wait for
 * each other.
 */
export async function openRoom(options: RoomOptions): Promise<Room> {
  const { own, folder, enclosure } = options
  const runs = join(folder, 'runs')
  await createPrivateFolder(folder)
  if (isFolder(runs)) await removeLayers(runs)
  for (const name of ['runs', 'master']) await createFolder(join(folder, name))
  const place: Place = { ...options, folder: realPath(folder), master: join(realPath(folder), 'master') }
  const oneByOne = serialize()
  const cleaning = new Set<Promise<void>>()
  const discard = (scratch: string) => {
    const done = removeLayers(scratch).finally(() => cleaning.delete(done))
    cleaning.add(done)
  }
  return {
    kind: enclosure.kind === 'namespaces' ? 'clean' : 'plain',
    path: enclosure.kind === 'namespaces' ? place.project : place.master,
    fill: (tree) => oneByOne(() => follow(own, place.master, tree, true)),
    run: (job) => oneByOne(() => runInRoom(place, job, discard)),
    close: async () => void (await Promise.all(cleaning)),
  }
}

type Place = RoomOptions & { readonly master: string }

/** Restores files that were changed or added there, detected by their change times. */
async function follow(own: OwnGit, master: string, tree: string, background = false): Promise<void> {
  const options = { workTree: master, index: join(own.folder, 'room.idx'), background }
  await removeFile(`${options.index}.lock`)
  await own.run(options, 'clean', '-qffdx')
  await own.run(options, 'read-tree', '--reset', '-u', tree)
}

async function runInRoom(place: Place, job: RoomJob, discard: (scratch: string) => void): Promise<RoomRun> {
  const began = performance.now()
  const { own, enclosure, folder, master } = place
  await refuseFullDisk(folder)
  const tree = await own.edit(await clearMountPoints(own, job), job.kept ?? [])
  await follow(own, master, tree).catch((error: unknown) => refuseFullDisk(folder).then(() => Promise.reject(error)))
  const scratch = join(folder, 'runs', randomUUID())
  try {
    await createFolder(join(scratch, 'tmp', '.room', 'home'))
    const { result, notes } =
      enclosure.kind === 'namespaces'
        ? await runMounted(place, job, { tree, scratch })
        : await runPlainly(place, job, { tree, scratch })
    if (result.failure !== undefined) throw enclosureError(result.failure)
    const { exitCode, output, durationMs, timedOut, flooded } = result
    const overheadMs = performance.now() - began - durationMs
    const room = enclosure.kind === 'namespaces' ? 'clean' : 'plain'
    const isDiskFull = exitCode !== 0 && (saysDiskFull(output) || (await isFull(folder)))
    return {
      exitCode,
      output,
      durationMs,
      overheadMs,
      timedOut,
      ...(flooded && { flooded }),
      ...(isDiskFull && { isDiskFull }),
      room,
      left: {
        outside: await listNames(join(scratch, 'tmp'), toolFolders),
        inProject: await listNames(join(scratch, projectLayer), ['.git']),
      },
      notes,
    }
  } finally {
    discard(scratch)
  }
}

const listNames = async (folder: string, except: readonly string[]): Promise<string[]> =>
  isFolder(folder) ? [...new Set((await listTree(folder, { except })).map((path) => posix.basename(path)))] : []

/** What was written over the first mount. */
const projectLayer = 'layers/0/up'

/** What package managers and compilers keep there. */
const toolFolders = ['.npm', '.cache', '.pycache', '.cargo', 'go', 'go-build', 'node_modules', '.git', 'objects']

type Run = { readonly tree: string; readonly scratch: string }
type Done = { readonly result: CommandResult; readonly notes: readonly string[] }

const inside = { home: '/tmp/.room/home', temporary: '/tmp', objects: '/tmp/.room/objects' }

async function runMounted(place: Place, job: RoomJob, { tree, scratch }: Run): Promise<Done> {
  const { own, project, master, enclosure } = place
  const layer = join(scratch, 'git')
  await writeRoomGit(own, { folder: join(layer, '.git'), tree, objects: inside.objects })
  const { dependencies = [], heldOut = [], readable = [], writable = [] } = job
  const mounts: RoomMount[] = [
    { kind: 'overlay', lower: [layer, master], at: project },
    ...dependencies.map(({ at, from, without }): RoomMount => {
      return { kind: 'overlay', lower: [from], at: join(project, at), without }
    }),
    { kind: 'ro-bind', from: own.objects, at: inside.objects },
    ...heldOut.map(({ from, at }): RoomMount => ({ kind: 'ro-bind', from: realPath(from), at: join(project, at) })),
    ...readable.map((path): RoomMount => ({ kind: 'ro-bind', from: path, at: path })),
    ...writable.map((path): RoomMount => ({ kind: 'bind', from: path, at: path })),
  ]
  const { network = false, timeoutMs, signal } = job
  const env = environment(place, job, inside)
  const argv = ['/bin/sh', '-c', job.command] as const
  const cwd = project
  return {
    result: await enclosure.run({ argv: [...argv], cwd, mounts, env, network, timeoutMs, scratch, signal }),
    notes: [],
  }
}

/** Without mounts: dependencies are links, held-out files are copies that the next reset removes. */
async function runPlainly(place: Place, job: RoomJob, { tree, scratch }: Run): Promise<Done> {
  const { own, master, enclosure } = place
  await removeFolder(join(master, '.git'))
  await writeRoomGit(own, { folder: join(master, '.git'), tree, objects: own.objects })
  for (const { at, from } of job.dependencies ?? []) await createLink(from, join(master, at))
  const { heldOut = [], network = false, timeoutMs, signal } = job
  for (const { from, at } of heldOut) await copyFolder(realPath(from), join(master, at))
  const env = environment(place, job, { home: join(scratch, 'tmp', '.room', 'home'), temporary: join(scratch, 'tmp') })
  const argv = ['/bin/sh', '-c', job.command] as const
  const shown = [own.objects, place.project, ...(job.readable ?? [])]
  const mounts = [
    ...shown.map((path): RoomMount => ({ kind: 'ro-bind', from: path, at: path })),
    ...(job.writable ?? []).map((path): RoomMount => ({ kind: 'bind', from: path, at: path })),
  ]
  const command = { argv: [...argv] as const, cwd: master, mounts, env, network, timeoutMs, scratch, signal }
  const result = await enclosure.run(command)
  for (const { at } of heldOut) await removeFolder(join(master, at))
  return { result, notes: plainNotes(enclosure.reason ?? 'no namespaces', job) }
}

const plainNotes = (reason: string, { network, dependencies = [] }: RoomJob): string[] => [
  `plain room, not at the project’s path: ${reason}`,
  ...(network === true ? [] : ['the network was not closed']),
  ...(dependencies.length > 0 ? ['installed packages were shared with the project, not mounted'] : []),
]

const environment = (place: Place, job: RoomJob, where: { readonly home: string; readonly temporary: string }) => ({
  ...roomEnvironment({ from: place.env, project: place.project, pass: job.pass ?? [], ...where }),
  ...job.variables,
})

/** An agent that commits a file or a link where something will be mounted must not decide where that ends up. */
async function clearMountPoints(
  own: OwnGit,
  { tree, dependencies = [], heldOut = [], kept = [] }: RoomJob,
): Promise<string> {
  const points = [...[...dependencies, ...heldOut].map(({ at }) => relative(at)), ...kept.map(({ path }) => path)]
  if (points.length === 0) return tree
  const ways = points.flatMap((at) => at.split('/').map((_, n, parts) => parts.slice(0, n + 1).join('/')))
  const listed = (await own.run({}, 'ls-tree', '-z', '--full-tree', tree, '--', ...new Set(ways)))
    .toString()
    .split('\0')
  const blocking = listed.flatMap((line) => /^\d+ blob \w+\t(.*)$/s.exec(line)?.[1] ?? [])
  const below = (await own.run({}, 'ls-tree', '-r', '-z', '--name-only', '--full-tree', tree, '--', ...points))
    .toString()
    .split('\0')
    .filter((path) => path !== '')
  const edits = [...new Set([...blocking, ...below])].map((path): TreeEdit => ({ path }))
  return own.edit(tree, edits)
}

/** Never above the project. */
function relative(at: string): string {
  const path = posix.normalize(at).replace(/\/$/, '')
  if (path === '.' || path.startsWith('..') || path.startsWith('/') || path === '.git')
    throw new RalphError('ROOM_FAILED', `cannot lay a folder into the room at "${at}"`, {
      hint: 'name a folder inside the project',
    })
  return path
}

const enclosureError = (failure: string): RalphError =>
  /No space left on device/.test(failure)
    ? new RalphError('DISK_FULL', `the room could not be made: ${failure}`, { hint: 'make room and try again' })
    : new RalphError('ROOM_FAILED', `the room could not be made: ${failure}`, {
        hint: 'look at `ralph doctor`; `room: off` runs the check in place, and the result says so',
      })

async function refuseFullDisk(folder: string): Promise<void> {
  const { freeBytes } = await diskSpace(folder)
  if (freeBytes >= leastFreeBytes) return
  throw new RalphError('DISK_FULL', `${Math.floor(freeBytes / 1e6)} MB are left for the room`, {
    place: { file: folder },
    hint: 'make room and run the same command again',
  })
}

const isFull = async (folder: string): Promise<boolean> => (await diskSpace(folder)).freeBytes < leastFreeBytes

/** What it wrote may be deleted again when it ends. */
const saysDiskFull = (output: string): boolean => /No space left on device|\bENOSPC\b/.test(output)
