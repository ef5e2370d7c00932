import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  exists,
  createFolder,
  createPrivateFolder,
  moveFile,
  readTextSyncIfExists,
  realPath,
  removeFile,
  removeFolder,
} from '../../platform/files/files.ts'
import { removeLayers } from './bubblewrap.ts'
import {
  compareDependencies,
  findFolders,
  loadDependencies,
  recordDependencies,
  saveDependencies,
  type DependencyChange,
  type DependencyPlaces,
  type DependencyRecord,
} from './dependencies.ts'
import type { Enclosure, RoomCommand, RoomMount } from './enclosure.ts'
import { roomEnvironment } from './environment.ts'
import { openInstallNetwork } from './install-network.ts'
import type { OwnGit, TreeEntry } from './own-git.ts'
import type { DependencyMount } from './room.ts'
import { findNewPrograms, knownPackages, type KnownPackages } from './known-packages.ts'
import { listHosts, localPlace, unusualLocked, unusualSpecs, type PackageRules } from './unusual-packages.ts'
import { packageFolders, withoutWorkspaceLinks } from './workspace-links.ts'

/** Where the packages of a run come from. `changed` is a question for the user, never a refusal. */
export type DependencyPlan =
  | {
      readonly kind: 'recorded' | 'installed'
      readonly mounts: readonly DependencyMount[]
      readonly notes: readonly string[]
    }
  | {
      readonly kind: 'dependencies-changed'
      readonly changed: readonly DependencyChange[]
      readonly reason: string
      /** What was recorded, as far as it is still there: for a user who accepts it. */
      readonly mounts: readonly DependencyMount[]
    }

export type DependencyRequest = {
  readonly own: OwnGit
  readonly enclosure: Enclosure
  readonly places: DependencyPlaces
  readonly record: DependencyRecord
  readonly baseline: string
  /** The claim with frozen settings: its manifests and lockfiles are installed. */
  readonly tree: string
  /** Whether the claim's lockfiles or dependencies differ from the baseline's. */
  readonly dependenciesChanged: boolean
  /** Files that an install reads: manifests, lockfiles. */
  readonly isManifest: (path: string) => boolean
  /** The command of SPRINT.yaml; detected if it is not given. */
  readonly install?: string | undefined
  /** `room: {network: true}`: an install reaches more than registries. */
  readonly isNetworkOpen: boolean
  /** Where installed packages are kept, by hash. */
  readonly cache: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number
}

/** The recorded folders if nothing has changed, else what the lockfile says, installed where no file of the agent is. */
export async function prepareDependencies(request: DependencyRequest): Promise<DependencyPlan> {
  const { record, places } = request
  const all = await compareDependencies(record, places)
  if (all.length === 0 && !request.dependenciesChanged)
    return { kind: 'recorded', mounts: mountRecorded(record, places), notes: [] }
  const known = knownPackages(record, places.project)
  const files = await request.own.list(request.tree)
  const folders = packageFolders(await readAll(request.own, files, isPackageManifest))
  const changed = await withoutWorkspaceLinks(all, { places, known, folders, path: request.env['PATH'] ?? '' })
  const mounts = [...mountRecorded(record, places), ...(changed.length === 0 ? mountAdded(record, places) : [])]
  const ask = (reason: string): DependencyPlan => ({ kind: 'dependencies-changed', changed, reason, mounts })
  const command = request.install ?? detectInstall((name) => files.has(name))
  if (command === undefined)
    return changed.length === 0
      ? { kind: 'recorded', mounts, notes: ['no lockfile is known: packages as they were at the start'] }
      : ask('no install command is known: give one with `install:`')
  const unusual = await findUnusual(request, known)
  if (unusual.length > 0) return ask(`packages from an unusual place: ${unusual.slice(0, 5).join(', ')}`)
  return install(request, { command, known, ask })
}

const mountRecorded = ({ folders }: DependencyRecord, { project, caches }: DependencyPlaces): DependencyMount[] =>
  folders
    .filter(({ real }) => exists(real))
    .map(({ at, real }) => ({ at, from: real === join(project, at) ? join(project, at) : real, without: caches }))

/** Folders that hold nothing but links to packages of the project. */
const mountAdded = ({ folders }: DependencyRecord, places: DependencyPlaces): DependencyMount[] =>
  findFolders(places)
    .filter((at) => !folders.some((folder) => folder.at === at))
    .map((at) => ({ at, from: realPath(join(places.project, at)), without: places.caches }))

/** Scripts of packages do not run: the baseline's user decided about those, an agent may not. */
const commands: readonly (readonly [string, string])[] = [
  ['package-lock.json', 'npm ci --ignore-scripts --no-audit --no-fund'],
  ['npm-shrinkwrap.json', 'npm ci --ignore-scripts --no-audit --no-fund'],
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile --ignore-scripts'],
  ['yarn.lock', 'yarn install --frozen-lockfile --ignore-scripts'],
  ['bun.lock', 'bun install --frozen-lockfile --ignore-scripts'],
  ['bun.lockb', 'bun install --frozen-lockfile --ignore-scripts'],
  ['uv.lock', 'uv sync --frozen --no-install-project'],
  ['poetry.lock', 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-root'],
  ['requirements.txt', 'python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt'],
  ['composer.lock', 'composer install --no-interaction --no-scripts --no-plugins'],
  ['Gemfile.lock', 'BUNDLE_PATH=vendor/bundle bundle install'],
]

const detectInstall = (isThere: (name: string) => boolean): string | undefined =>
  commands.find(([lock]) => isThere(lock))?.[1]

type Files = ReadonlyMap<string, TreeEntry>

const isPackageManifest = (path: string): boolean => /(?:^|\/)package\.json$/.test(path)

async function readAll(own: OwnGit, files: Files, isWanted: (path: string) => boolean): Promise<Map<string, string>> {
  const mountedFiles = [...files].filter(([path, { mode }]) => isWanted(path) && mode.startsWith('100'))
  const texts = await own.readBlobs(mountedFiles.map(([, { id }]) => id))
  return new Map(mountedFiles.map(([path], n) => [path, texts[n]?.toString() ?? '']))
}

async function findUnusual(request: DependencyRequest, known: KnownPackages): Promise<string[]> {
  const { own, baseline, tree, isManifest, env } = request
  const [before, after] = await Promise.all(
    [baseline, tree].map(async (each) => readAll(own, await own.list(each), isManifest)),
  )
  const rules: PackageRules = { isKnown: known.has, hosts: new Set(await listRegistries(request, env['HOME'])) }
  return [...(after ?? [])].flatMap(([path, text]) => {
    const texts = { before: before?.get(path), after: text }
    return isPackageManifest(path) ? unusualSpecs(texts, rules) : unusualLocked(path, texts, rules)
  })
}

/** Hosts that the user's own settings name. */
async function listRegistries({ own, baseline, env }: DependencyRequest, home = '/'): Promise<string[]> {
  const settings = await readAll(own, await own.list(baseline), (path) => sources.test(path))
  const texts = [...settings.values(), ...userFiles.map((file) => readTextSyncIfExists(join(home, file)))]
  return [...texts, ...registryVariables.map((name) => env[name])].flatMap((text) => listHosts(text ?? ''))
}

const userFiles = ['.npmrc', '.yarnrc', '.yarnrc.yml', '.config/pip/pip.conf', '.bundle/config']
const registryVariables = [
  'npm_config_registry',
  'NPM_CONFIG_REGISTRY',
  'YARN_NPM_REGISTRY_SERVER',
  'BUN_CONFIG_REGISTRY',
  'PIP_INDEX_URL',
  'UV_INDEX_URL',
  'UV_DEFAULT_INDEX',
]

/** Settings that say where packages come from; in the tree they are the baseline's. */
const sources =
  /(?:^|\/)(?:\.npmrc|\.yarnrc|\.yarnrc\.yml|pnpm-workspace\.yaml|\.pnpmfile\.cjs|bunfig\.toml)$|(?:^|\/)\.yarn\//

type Installing = {
  readonly command: string
  readonly known: KnownPackages
  readonly ask: (reason: string) => DependencyPlan
}

async function install(request: DependencyRequest, { command, known, ask }: Installing): Promise<DependencyPlan> {
  const { own, cache, places, isManifest } = request
  const files = [...(await own.list(request.tree))].filter(([path]) => isManifest(path) || sources.test(path))
  const tree = await own.edit(
    emptyTree,
    [...files, ...(await listLocalPackages(request))].map(([path, entry]) => ({ path, entry })),
  )
  const key = hash([tree, command, process.version.split('.')[0] ?? '', process.platform, process.arch])
  await createPrivateFolder(cache)
  const folder = join(realPath(cache), key)
  const inCache = { ...places, project: folder, isTracked: () => false }
  const kept = loadDependencies(`${folder}.json`)
  if (kept && exists(folder) && (await compareDependencies(kept, inCache)).length === 0)
    return installed(inCache, [`packages of ${command}, kept`])
  const failure = await fillFolder(request, { folder, tree, command })
  if (failure !== undefined) return ask(`${command} failed: ${failure}`)
  const programs = await findNewPrograms(folder, {
    folders: findFolders(inCache),
    known,
    path: request.env['PATH'] ?? '',
  })
  if (programs.length > 0) return ask(`new packages bring programs that are there already: ${programs.join(', ')}`)
  await saveDependencies(`${folder}.json`, await recordDependencies(inCache))
  return installed(inCache, [`packages installed by ${command}`])
}

/**
 * Packages that lie in the project itself: those that its own lockfile named at the start as they were then, and new ones of the
 * claim, whose names `findUnusual` has looked at.
 */
async function listLocalPackages({
  own,
  baseline,
  tree,
}: DependencyRequest): Promise<(readonly [string, TreeEntry])[]> {
  const [before, after] = await Promise.all([own.list(baseline), own.list(tree)])
  const old = await listLocalPlaces(own, before)
  const added = (await listLocalPlaces(own, after)).filter((place) => !old.includes(place))
  return [...listBelow(after, added), ...listBelow(before, old)]
}

const listBelow = (files: Files, places: readonly string[]) =>
  [...files].filter(([path]) => places.some((place) => path === place || path.startsWith(`${place}/`)))

async function listLocalPlaces(own: OwnGit, files: Files): Promise<string[]> {
  const locks = await readAll(own, files, (path) => path === 'package-lock.json' || path === 'npm-shrinkwrap.json')
  return [...locks.values()].flatMap((text) =>
    [...text.matchAll(/"(file:[^"]+)"/g)].flatMap(([, spec = '']) => localPlace(spec) ?? []),
  )
}

const installed = (places: DependencyPlaces, notes: readonly string[]): DependencyPlan => ({
  kind: 'installed',
  mounts: findFolders(places).map((at) => ({ at, from: join(places.project, at), without: [] })),
  notes,
})

const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

type Filling = { readonly folder: string; readonly tree: string; readonly command: string }

/** Undefined if it worked, else the last lines of what the command said. */
async function fillFolder(request: DependencyRequest, { folder, tree, command }: Filling): Promise<string | undefined> {
  const { own, enclosure } = request
  const part = `${folder}.part`
  const scratch = `${folder}.scratch`
  await Promise.all([removeFolder(part), removeFolder(folder), removeFile(`${folder}.json`)])
  for (const path of [part, join(scratch, 'tmp', '.room', 'home')]) await createFolder(path)
  try {
    await layOut(own, part, tree)
    const job = { part, scratch, command }
    const failure =
      enclosure.kind === 'namespaces' ? await runMounted(request, job) : await runInstall(request, job, plainPlace(job))
    if (failure === undefined) await moveFile(part, folder)
    return failure
  } finally {
    await removeLayers(scratch)
    await removeFolder(part)
  }
}

async function layOut(own: OwnGit, workTree: string, tree: string): Promise<void> {
  const index = join(own.folder, 'install.idx')
  await removeFile(index)
  await own.run({ workTree, index }, 'read-tree', '--reset', '-u', tree)
}

type InstallJob = { readonly part: string; readonly scratch: string; readonly command: string }

type InstallPlace = Pick<RoomCommand, 'argv' | 'cwd' | 'mounts' | 'env' | 'network'> & { readonly temporary: string }

const shell = (command: string) => ['/bin/sh', '-c', command] as const

const plainPlace = ({ part, scratch, command }: InstallJob): InstallPlace => ({
  argv: shell(command),
  cwd: part,
  mounts: [],
  env: {},
  network: true,
  temporary: join(scratch, 'tmp'),
})

/** At the project's path. Only registries are reachable, unless the user opened the network of the room. */
async function runMounted(request: DependencyRequest, job: InstallJob): Promise<string | undefined> {
  const { own, baseline, isManifest, places } = request
  const [cwd, temporary] = [places.project, '/tmp']
  const project: RoomMount = { kind: 'bind', from: job.part, at: cwd }
  const argv = shell(job.command)
  if (request.isNetworkOpen)
    return runInstall(request, job, { argv, cwd, mounts: [project], env: {}, network: true, temporary })
  const start = join(job.scratch, 'start')
  await createFolder(start)
  const files = [...(await own.list(baseline))].filter(([path]) => isManifest(path) || sources.test(path))
  await layOut(
    own,
    start,
    await own.edit(
      emptyTree,
      files.map(([path, entry]) => ({ path, entry })),
    ),
  )
  const network = await openInstallNetwork({ scratch: job.scratch, start, env: request.env })
  try {
    const failure = await runInstall(request, job, {
      argv: network.around(argv),
      cwd,
      mounts: [project, ...network.mounts],
      env: network.env,
      network: false,
      temporary,
    })
    const refused = network.refused()
    if (failure === undefined || refused.length === 0) return failure
    return `${failure}\nnot a registry of this project: ${refused.slice(0, 5).join(', ')}; \`room: {network: true}\` opens the network`
  } finally {
    await network.close()
  }
}

async function runInstall(
  request: DependencyRequest,
  { scratch }: InstallJob,
  { temporary, ...place }: InstallPlace,
): Promise<string | undefined> {
  const { enclosure, places, timeoutMs } = request
  const pass = [...proxies, ...registryVariables]
  const home = join(temporary, '.room', 'home')
  const env = {
    ...roomEnvironment({ from: request.env, project: places.project, home, temporary, pass }),
    ...userConfiguration(request.env['HOME']),
    ...place.env,
  }
  const { exitCode, output, failure } = await enclosure.run({ ...place, env, timeoutMs, scratch })
  if (exitCode === 0) return undefined
  return (failure ?? output).trim().split('\n').slice(-5).join('\n') || `exit code ${exitCode}`
}

const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']

/** The user's registries. Scripts of packages do not run, so nothing else reads what is in there. */
const userConfiguration = (home: string | undefined): Record<string, string> => ({
  ...(home !== undefined && exists(join(home, '.npmrc')) && { npm_config_userconfig: join(home, '.npmrc') }),
  ...(home !== undefined &&
    exists(join(home, '.config/pip/pip.conf')) && { PIP_CONFIG_FILE: join(home, '.config/pip/pip.conf') }),
})

const hash = (parts: readonly string[]): string => createHash('sha256').update(parts.join('\n')).digest('hex')
