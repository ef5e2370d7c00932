import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  exists,
  createFolder,
  createPrivateFolder,
  moveFile,
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
import type { Enclosure } from './enclosure.ts'
import { roomEnvironment } from './environment.ts'
import type { OwnGit } from './own-git.ts'
import type { DependencyMount } from './room.ts'
import { unusualPackages } from './unusual-packages.ts'

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
  /** Where installed packages are kept, by hash. */
  readonly cache: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number
}

/** The recorded folders if nothing has changed, else what the lockfile says, installed where no file of the agent is. */
export async function prepareDependencies(request: DependencyRequest): Promise<DependencyPlan> {
  const { record, places } = request
  const changed = await compareDependencies(record, places)
  const mounts = mountRecorded(record, places)
  if (changed.length === 0 && !request.dependenciesChanged) return { kind: 'recorded', mounts, notes: [] }
  const ask = (reason: string): DependencyPlan => ({ kind: 'dependencies-changed', changed, reason, mounts })
  const files = await request.own.list(request.tree)
  const command = request.install ?? detectInstall((name) => files.has(name))
  if (command === undefined)
    return changed.length === 0
      ? { kind: 'recorded', mounts, notes: ['no lockfile is known: packages as they were at the start'] }
      : ask('no install command is known: give one with `install:`')
  const unusual = await findUnusual(request)
  if (unusual.length > 0) return ask(`packages from an unusual place: ${unusual.slice(0, 5).join(', ')}`)
  return install(request, command, ask)
}

const mountRecorded = ({ folders }: DependencyRecord, { project, caches }: DependencyPlaces): DependencyMount[] =>
  folders
    .filter(({ real }) => exists(real))
    .map(({ at, real }) => ({ at, from: real === join(project, at) ? join(project, at) : real, without: caches }))

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

async function findUnusual({ own, baseline, tree }: DependencyRequest): Promise<string[]> {
  const [before, after] = await Promise.all([own.list(baseline), own.list(tree)])
  const read = async (files: typeof before, path: string) => {
    const entry = files.get(path)
    return entry && (await own.readBlobs([entry.id]))[0]?.toString()
  }
  const texts = async (path: string) => ({ before: await read(before, path), after: await read(after, path) })
  const lock = await texts('package-lock.json')
  const manifests = [...after.keys()].filter((path) => /(?:^|\/)package\.json$/.test(path))
  const found = await Promise.all(manifests.map(async (path) => unusualPackages(await texts(path), lock)))
  return [...new Set(found.flat())]
}

/** Settings that say where packages come from; in the tree they are the baseline's. */
const sources =
  /(?:^|\/)(?:\.npmrc|\.yarnrc|\.yarnrc\.yml|pnpm-workspace\.yaml|\.pnpmfile\.cjs|bunfig\.toml)$|(?:^|\/)\.yarn\//

async function install(
  request: DependencyRequest,
  command: string,
  ask: (reason: string) => DependencyPlan,
): Promise<DependencyPlan> {
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
  await saveDependencies(`${folder}.json`, await recordDependencies(inCache))
  return installed(inCache, [`packages installed by ${command}`])
}

/** Packages that lie in the project itself and that its own lockfile named at the start, as they were then. */
async function listLocalPackages({ own, baseline }: DependencyRequest) {
  const files = await own.list(baseline)
  const lock = files.get('package-lock.json')
  const text = lock ? ((await own.readBlobs([lock.id]))[0]?.toString() ?? '') : ''
  const places = [...text.matchAll(/"file:(?:\.\/)?([^"]+)"/g)].flatMap(([, place]) => place ?? [])
  return [...files].filter(([path]) => places.some((place) => path === place || path.startsWith(`${place}/`)))
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
  const { own, enclosure, places, timeoutMs } = request
  const part = `${folder}.part`
  const scratch = `${folder}.scratch`
  await Promise.all([removeFolder(part), removeFolder(folder), removeFile(`${folder}.json`)])
  for (const path of [part, join(scratch, 'tmp', '.room', 'home')]) await createFolder(path)
  try {
    const index = join(own.folder, 'install.idx')
    await removeFile(index)
    await own.run({ workTree: part, index }, 'read-tree', '--reset', '-u', tree)
    const isMounted = enclosure.kind === 'namespaces'
    const home = isMounted ? '/tmp/.room/home' : join(scratch, 'tmp', '.room', 'home')
    const temporary = isMounted ? '/tmp' : join(scratch, 'tmp')
    const env = {
      ...roomEnvironment({ from: request.env, project: places.project, home, temporary, pass: proxies }),
      ...userConfiguration(request.env['HOME']),
    }
    const { exitCode, output, failure } = await enclosure.run({
      argv: ['/bin/sh', '-c', command],
      cwd: isMounted ? places.project : part,
      mounts: isMounted ? [{ kind: 'bind', from: part, at: places.project }] : [],
      env,
      network: true,
      timeoutMs,
      scratch,
    })
    if (exitCode !== 0) return (failure ?? output).trim().split('\n').slice(-5).join('\n') || `exit code ${exitCode}`
    await moveFile(part, folder)
    return undefined
  } finally {
    await removeLayers(scratch)
    await removeFolder(part)
  }
}

const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']

/** The user's registries. Scripts of packages do not run, so nothing else reads what is in there. */
const userConfiguration = (home: string | undefined): Record<string, string> => ({
  ...(home !== undefined && exists(join(home, '.npmrc')) && { npm_config_userconfig: join(home, '.npmrc') }),
  ...(home !== undefined &&
    exists(join(home, '.config/pip/pip.conf')) && { PIP_CONFIG_FILE: join(home, '.config/pip/pip.conf') }),
})

const hash = (parts: readonly string[]): string => createHash('sha256').update(parts.join('\n')).digest('hex')
