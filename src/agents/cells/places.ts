import { dirname, join, relative, resolve } from 'node:path'
import {
  exists,
  isFile,
  isFolder,
  listFolder,
  createFolder,
  readTextSyncIfExists,
  realPath,
} from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import type { Driver } from '../drivers/driver.ts'
import { isWithin, type SandboxProfile } from './profile.ts'

export type SandboxRequest = {
  readonly driver: Pick<Driver, 'state'>
  /** Where the agent works. */
  readonly cwd: string
  readonly sprintDir: string
  readonly temporary: string
  /** The part of the attempt's folder that its agent may write to. */
  readonly told: string
  /** The environment of the agent, with its PATH and HOME. */
  readonly env: Readonly<Record<string, string>>
  /** Folders that hold programs of ours and of the agent. */
  readonly programs: readonly string[]
  /** What the agent is to write besides its work: its notes. */
  readonly alsoWritable?: readonly string[]
  /** Ralph's own folders. */
  readonly ralphHomes: readonly string[]
  readonly asRoot: boolean
}

/** What in a sprint's folder is Ralph's alone; PROGRESS.yaml and notes are for the agent too. */
const ralphsFiles = ['SPRINT.yaml', '.gitignore', '.ralph-id', '.lock', 'transcripts']
/** Of a sprint that has its state in its own folder, as on a machine of a fleet. */
const stateInPlace = ['journal', 'attempts', 'requests', 'index', 'protected', 'tmp']

/** A state elsewhere lies in a hidden folder; the agent reads transcripts and the files of its own attempt there. */
function listReadOnlyState(sprintDir: string): string[] {
  const state = stateFolder(sprintDir)
  return (state === sprintDir ? stateInPlace : ['attempts']).map((name) => join(state, name))
}

/** Of package managers and compilers: without them hardly anything can be installed or built. Relative to the home folder. */
const caches = [
  '.cache .npm .yarn .pnpm-store .local/share/pnpm .bun/install/cache .local/share/uv .gem',
  '.cargo/registry .cargo/git go/pkg .gradle .m2/repository .nuget/packages',
].flatMap((names) => names.split(' '))

/** What belongs to the agent program itself. */
export const stateOf = ({ state }: Pick<Driver, 'state'>, env: SandboxRequest['env']): string[] =>
  (state?.(env) ?? []).map((path) => resolve(env['HOME'] ?? '/', path))

/** Folders that have to be there before they can be kept read-only. */
export const sprintFoldersOf = (sprintDir: string): string[] => [
  join(sprintDir, 'transcripts'),
  ...listReadOnlyState(sprintDir),
]

/** Looks at the disk for all that the profile of an attempt names. */
export async function placesFor(request: SandboxRequest): Promise<SandboxProfile> {
  const { driver, sprintDir, env } = request
  const cwd = realPath(request.cwd)
  const home = env['HOME'] ?? '/'
  const sprint = realPath(sprintDir)
  const git = await repositoriesOf(cwd)
  return {
    cwd,
    temporary: realPath(request.temporary),
    readable: there([home, ...readablePrograms(request)]),
    writable: [
      cwd,
      sprint,
      ...there(request.alsoWritable ?? []),
      ...there([...stateOf(driver, env), ...caches.map((path) => join(home, path)), ...git.writable]),
    ],
    readOnly: [
      ...there([...ralphsFiles.map((name) => join(sprint, name)), ...listReadOnlyState(sprintDir)]),
      ...there([join(cwd, '.claude', 'workflows'), ...git.readOnly]),
    ].filter((path) => !isWithin(cwd, path)),
    hidden: there(request.ralphHomes).filter((path) => path !== cwd),
    told: isWithin(request.told, sprintDir) ? join(sprint, relative(sprintDir, request.told)) : request.told,
    asRoot: request.asRoot,
  }
}

const there = (paths: readonly string[]): string[] => paths.filter((path) => exists(path)).map((path) => realPath(path))

/** The folders on PATH, and what their links lead to: a program of npm is a link into a folder beside the one it is in. */
function readablePrograms({ env, programs }: SandboxRequest): string[] {
  const folders = (env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'))
  return [...folders, ...programs]
}

/** The repositories around and directly in a folder: everything in them can be written but what git itself would execute. */
async function repositoriesOf(cwd: string) {
  const names = await listFolder(cwd)
  const below = names.filter((name) => name !== 'node_modules').map((name) => join(cwd, name))
  const links = [...ancestors(cwd), ...below].map((folder) => join(folder, '.git')).filter((path) => exists(path))
  const folders = links.flatMap((link) => gitFolders(link))
  // What is not there cannot be kept read-only, and would be planted.
  for (const folder of folders) if (exists(join(folder, 'objects'))) await createFolder(join(folder, 'hooks'))
  return {
    writable: folders,
    readOnly: [
      ...links.filter((link) => isFile(link)),
      ...folders.flatMap((folder) => [join(folder, 'hooks'), join(folder, 'config'), join(folder, 'config.worktree')]),
    ],
  }
}

/** The folder and those around it, up to the first repository. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return exists(join(folder, '.git')) || parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

/** Of a worktree: its own folder of git, and the one that it shares with the others. */
function gitFolders(link: string): string[] {
  if (isFolder(link)) return [realPath(link)]
  const own = /^gitdir: (.*)$/m.exec(readTextSyncIfExists(link) ?? '')?.[1]
  if (own === undefined) return []
  const folder = resolve(dirname(link), own)
  const common = readTextSyncIfExists(join(folder, 'commondir'))?.trim()
  return there(common === undefined ? [folder] : [folder, resolve(folder, common)])
}
