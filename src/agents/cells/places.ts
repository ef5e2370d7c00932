import { createHash } from 'node:crypto'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import {
  exists,
  isFolder,
  createFolder,
  createPrivateFolder,
  leadsOut,
  listFolder,
  realPath,
  writeNewFile,
} from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { findSockets } from '../../platform/processes/unix-sockets.ts'
import type { Driver } from '../drivers/driver.ts'
import { homeView, programFolders, secrets } from './home-view.ts'
import { isWithin } from '../../platform/files/paths.ts'
import { type Mount, type View } from './mounts.ts'
import { closeRepositories, lookForRepositories, type RepositoryLook } from './git/repositories.ts'
import { systemMounts, type EtcView } from './system-view.ts'

export type PlacesRequest = {
  readonly driver?: Pick<Driver, 'state' | 'settings' | 'sessions'> | undefined
  /** Where the program works. */
  readonly cwd: string
  readonly sprintDir: string
  /** The part of the attempt's folder that the program may write to. */
  readonly reportFolder?: string | undefined
  /** The environment of the program, with its PATH and HOME. */
  readonly env: Readonly<Record<string, string>>
  /** Programs of ours and of the agent, as files. */
  readonly programs: readonly string[]
  readonly read: readonly string[]
  readonly write: readonly string[]
  /** Ralph's own folders. */
  readonly ralphHomes: readonly string[]
  readonly files: CellFiles
  /** Instead of the package that runs, for tests. */
  readonly packageFolder?: string | undefined
}

/** Files and folders made for one cell, outside of what its program can write. */
export type CellFiles = {
  readonly temporary: string
  readonly etc: EtcView
  /** Stand-ins for files of the home folder, by the name in it. */
  readonly home: Readonly<Record<string, string>>
  /** The tracked files of all sprints, in place of `.claude/sprints`. */
  readonly sprints: string
  /** Found once for an attempt. */
  readonly repositories?: RepositoryLook | undefined
  /** Holds the proxy's socket. */
  readonly network?: string | undefined
}

/** What in a sprint's folder is Ralph's alone; PROGRESS.yaml and notes are for the agent too. */
const ralphsFiles = ['SPRINT.yaml', '.gitignore', '.ralph-id', '.lock']
/** Of a sprint that has its state in its own folder, as on a machine of a fleet. */
const stateInPlace = ['journal', 'attempts', 'requests', 'index', 'protected', 'tmp']

/**
 * Folders of Ralph that a program may read. A state elsewhere lies in a hidden folder; of it, a program sees the transcripts,
 * and the files of its own attempt.
 */
function listRalphFolders(sprintDir: string): string[] {
  const state = stateFolder(sprintDir)
  const names = state === sprintDir ? stateInPlace : ['attempts', 'transcripts']
  return [join(sprintDir, 'transcripts'), ...names.map((name) => join(state, name))]
}

/** Of package managers and compilers. A program gets private ones that last: what it puts there, the user's own builds never use. */
const caches = [
  '.cache .npm .yarn .pnpm-store .local/share/pnpm/store .bun/install/cache .local/share/uv/cache .gem',
  '.cargo/registry .cargo/git go/pkg .gradle .m2/repository .nuget/packages',
].flatMap((names) => names.split(' '))

/**
 * In the project: the user's own sessions start what they name, some without a question. Those that are there can only be read; Ralph
 * moves new ones aside.
 */
export const projectSettings =
  '.mcp.json .codex .gemini .opencode opencode.json opencode.jsonc .qwen .amp .cursor/mcp.json .cursor/hooks.json'.split(
    ' ',
  )

/** Variables that name a file which a program has to read. */
const certificateVariables = [
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'CODEX_CA_CERTIFICATE',
  'GOOGLE_APPLICATION_CREDENTIALS',
]

/** What cells of different attempts share. */
export const cachesFolder = ([home]: readonly string[]): string | undefined => home && join(home, 'caches')

/** Where the cell shows the proxy's socket. */
export const networkFolder = '/run/ralph'

/** Looks at the disk for all that a cell shows, and makes what has to be there before it can be closed. */
export async function findPlaces(request: PlacesRequest): Promise<View> {
  const { env, files } = request
  const cwd = realPath(request.cwd)
  const home = homeFolder(env)
  const sprint = realPath(request.sprintDir)
  await createFolder(join(cwd, '.claude'))
  for (const folder of listRalphFolders(request.sprintDir)) await createFolder(folder)
  const git = await closeRepositories(files.repositories ?? (await lookForRepositories(cwd)))
  const state = await driverPlaces(request, home)
  const hidden = [home, cwd, ...request.ralphHomes]
  const own = [...request.write.map((path) => expand(path, home)), ...git.writable]
  const there = (paths: readonly string[]): string[] => existing(paths, cwd)
  const readable = [
    ...there([
      ...homeView(home, env, '').readable,
      ...programFolders(findProgramFolders(request, cwd), { home, hidden }),
      ...certificateVariables.flatMap((name) => env[name] ?? []),
    ]).filter((path) => !isWithin(path, cwd)),
    // Ralph may be a package of the project: the agent must not change the program that makes its cell.
    ...there([request.packageFolder ?? packageRoot]),
    ...there(request.read.map((path) => expand(path, home))),
    join(cwd, '.claude'),
    ...there(projectSettings.map((name) => join(cwd, name))),
    ...git.readable,
    ...there([...listRalphFolders(sprint), ...ralphsFiles.map((name) => join(sprint, name))]),
    ...state.readable,
  ].filter((path) => !isWithin(cwd, path))
  const hiddenPaths = concealed(request, { home, cwd, shown: [...programRoots, ...readable] })
  return {
    system: [
      ...systemMounts(files),
      ...(isWithin(home, cwd) ? [] : [emptyHome(home)]),
      ...(await privateCaches(request, home)),
      ...Object.entries(files.home).map(([name, from]) => readOnly(join(home, name), from)),
      ...(isFolder(join(cwd, '.claude/sprints')) ? [readOnly(join(cwd, '.claude/sprints'), files.sprints)] : []),
      ...state.sessions,
      ...(files.network === undefined ? [] : [readOnly(networkFolder, files.network)]),
    ],
    readable,
    writable: [cwd, sprint, ...there([...own, ...state.writable]), ...listReportFolder(request)],
    emptyFolders: hiddenPaths.filter((path) => isFolder(path)),
    emptyFiles: [...hiddenPaths.filter((path) => !isFolder(path)), ...state.hiddenFiles, ...(await findSockets(cwd))],
  }
}

export const homeFolder = (env: PlacesRequest['env']): string => {
  const home = env['HOME'] ?? '/root'
  return exists(home) ? realPath(home) : home
}

const readOnly = (path: string, from: string): Mount => ({ kind: 'bind', path, from, write: false })

const emptyHome = (home: string): Mount => ({
  kind: 'tmpfs',
  path: home,
  megabytes: 1024,
  write: true,
  mode: '0700',
})

/** On PATH, and of programs: with the name that they are started by, and where they are. */
const findProgramFolders = ({ env, programs }: PlacesRequest, cwd: string): string[] => [
  ...existing([...(env['PATH'] ?? '').split(':').filter(isAbsolute), ...programs.map((file) => dirname(file))], cwd),
  ...existing(programs, cwd).map((file) => dirname(file)),
]

/** Without links. None that the work tree names and a link in it makes another: the agent may have written the link. */
const existing = (paths: readonly string[], cwd: string): string[] =>
  paths.filter((path) => exists(path) && !leadsOut(resolve(path), cwd)).map((path) => realPath(path))

const expand = (path: string, home: string): string =>
  path.startsWith('~/') ? join(home, path.slice(2)) : resolve(home, path)

/** Not there yet when this is asked: the launcher makes it. */
const listReportFolder = ({ reportFolder, sprintDir }: PlacesRequest): string[] =>
  reportFolder === undefined ? [] : [resolveReportFolder(reportFolder, sprintDir)]

/** The path without links of a folder that does not exist yet. */
export const resolveReportFolder = (reportFolder: string, sprintDir: string): string =>
  isWithin(reportFolder, sprintDir) ? join(realPath(sprintDir), relative(sprintDir, reportFolder)) : reportFolder

/** Ralph's folders and the user's secrets, where something that is shown contains them. */
function concealed({ ralphHomes }: PlacesRequest, { home, cwd, shown }: ShownPlaces): string[] {
  const kept = secrets.map((name) => join(home, name))
  return existing([...ralphHomes, ...kept], cwd).filter(
    (path) => !isWithin(cwd, path) && [cwd, ...shown].some((folder) => path !== folder && isWithin(path, folder)),
  )
}

type ShownPlaces = { readonly home: string; readonly cwd: string; readonly shown: readonly string[] }

/** Of which every program sees all: a folder of Ralph may lie in one of them. */
const programRoots = ['/usr', '/opt', '/nix', '/snap']

/** The agent program's own state, made where it is missing; its settings can only be read, since they take effect in the user's own sessions. */
async function driverPlaces(request: PlacesRequest, home: string) {
  const { driver, env, cwd } = request
  const absolute = (paths: readonly string[] = []) => paths.map((path) => resolve(home, path))
  const writable = absolute(driver?.state?.(env))
  const readable = await listSettings(driver, env, home)
  for (const path of [...writable, ...readable]) await makeState(path)
  return { writable, readable: existing(readable, realPath(cwd)), ...(await sessionPlaces(request, home)) }
}

/** Like the program's own state otherwise: made where they are missing, since the program could make them too. */
async function sessionPlaces({ driver, env, cwd }: PlacesRequest, home: string) {
  const { hidden = [], hiddenFiles = [], own = [] } = driver?.sessions?.(env, realPath(cwd)) ?? {}
  const at = async (path: string): Promise<string> => {
    await createPrivateFolder(resolve(home, path))
    return realPath(resolve(home, path))
  }
  const sessions: Mount[] = [
    ...(await Promise.all(hidden.map(at))).map(emptySessions),
    ...(await Promise.all(own.map(at))).map((path): Mount => ({ kind: 'bind', path, from: path, write: true })),
  ]
  return {
    sessions,
    hiddenFiles: existing(
      hiddenFiles.map((path) => resolve(home, path)),
      realPath(cwd),
    ),
  }
}

const emptySessions = (path: string): Mount => ({ kind: 'tmpfs', path, megabytes: 64, write: true, mode: '0700' })

/** Absolute paths. A name such as `*.toml` stands for the files that end like this. */
export async function listSettings(
  driver: Pick<Driver, 'settings'> | undefined,
  env: PlacesRequest['env'],
  home: string,
): Promise<string[]> {
  const paths = (driver?.settings?.(env) ?? []).map((name) => resolve(home, name))
  const lists = paths.map(async (path) => {
    const [folder, name] = [dirname(path), basename(path)]
    if (!name.startsWith('*')) return [path]
    return (await listFolder(folder)).filter((each) => each.endsWith(name.slice(1))).map((each) => join(folder, each))
  })
  return (await Promise.all(lists)).flat()
}

/** Files that change what the program does although they are empty. Ralph removes a new one after the attempt. */
export const mustNotCreate = (path: string): boolean => /\/\.(?:env|config\.json)$/.test(path)

/** A program that was never used has to make what it keeps, and cannot do so in a home folder that is not there. */
async function makeState(path: string): Promise<void> {
  if (exists(path) || mustNotCreate(path)) return
  if (!/\.(?:json|toml|md)$/.test(path)) return createPrivateFolder(path)
  await createFolder(dirname(path))
  await writeNewFile(path, path.endsWith('.json') ? '{}\n' : '')
}

/** One set per project: a cache would carry data from one agent to the next. */
async function privateCaches({ ralphHomes, cwd }: PlacesRequest, home: string): Promise<Mount[]> {
  const shared = cachesFolder(ralphHomes)
  if (shared === undefined || isWithin(home, realPath(cwd))) return []
  const folder = join(shared, createHash('sha256').update(realPath(cwd)).digest('hex').slice(0, 16))
  const used = caches.filter((name) => name === '.cache' || name === '.npm' || exists(join(home, name)))
  return Promise.all(
    used.map(async (name): Promise<Mount> => {
      const from = join(folder, name.replaceAll('/', '+'))
      await createPrivateFolder(from)
      return { kind: 'bind', path: join(home, name), from: realPath(from), write: true }
    }),
  )
}
