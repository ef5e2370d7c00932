import { join, resolve } from 'node:path'
import { errorMessage } from '../../contract/errors.ts'
import { exists, isFile, lstatSize, readTextSyncIfExists, removeFile } from '../../platform/files/files.ts'
import { writeText } from '../../platform/files/text-files.ts'
import type { OwnGit } from './own-git.ts'

export type SnapshotRequest = {
  /** The real path of the project. */
  readonly project: string
  /** Paths relative to the project that belong to Ralph: `.claude/sprints`. */
  readonly exclude: readonly string[]
  /** Ignored files that the checks need (`room: {copy: […]}`), relative to the project. */
  readonly include?: readonly string[]
  /** Runs at low priority: the caller does not wait. */
  readonly background?: boolean
}

export type Snapshot = {
  readonly tree: string
  /** Folders with a repository of their own that are no submodules; their files are not included. */
  readonly nested: readonly string[]
  /** Files that could not be read. */
  readonly unreadable: readonly string[]
  /** Files that are too large to be read without a question, with their sizes; not included. */
  readonly large: readonly string[]
}

/**
 * The work tree as it is now: what is tracked and what is not ignored, with every object in Ralph's own store. Only the first
 * snapshot reads all files; later ones read what the file system reports as changed. Needs no git in the project.
 */
export async function takeSnapshot(own: OwnGit, request: SnapshotRequest): Promise<Snapshot> {
  const { project: workTree, background } = request
  const index = join(own.folder, 'snapshot.idx')
  await removeFile(`${index}.lock`)
  const isFirst = !exists(index)
  if (isFirst) await writeText(join(own.folder, 'info', 'exclude'), `${ownExcludes}${projectExcludes(workTree)}`)
  const outside = request.exclude.map((path) => `:(exclude,top,literal)${path}`)
  const [listed, forced] = await Promise.all([
    own.run({ workTree, index }, 'ls-files', '-z', '-m', '-o', '--exclude-standard', '--', '.', ...outside),
    listIgnoredButTracked(own, workTree),
  ])
  const found = names(listed)
  // A folder with a slash at its end is a repository that git does not look into.
  const repositories = found.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1))
  const { files: ofSubmodules, nested } = await listSubmodules(own, workTree, repositories)
  const isOurs = (path: string) => request.exclude.some((folder) => path === folder || path.startsWith(`${folder}/`))
  const ownFiles = [...found.filter((path) => !path.endsWith('/')), ...ofSubmodules]
  const listedFiles = [...ownFiles, ...forced.filter((path) => !isOurs(path))]
  const copied = await listBelow(own, workTree, request.include ?? [])
  const isCopied = new Set(copied)
  const large = await findLarge(
    own,
    workTree,
    listedFiles.filter((path) => !isCopied.has(path)),
  )
  const paths = listedFiles.filter((path) => !large.has(path))
  const unreadable = await addToIndex(own, { workTree, index, background, isFirst }, [...paths, ...copied])
  // One that was small before must not count as it was.
  if (large.size > 0) await own.run({ workTree, index, input: joinNames(large.keys()) }, ...removal)
  const tree = (await own.run({ workTree, index }, 'write-tree')).toString().trim()
  return { tree, nested, unreadable, large: [...large.values()] }
}

/** The files of submodules that are checked out, and the repositories that are none. */
async function listSubmodules(own: OwnGit, workTree: string, repositories: readonly string[]) {
  const text = repositories.length === 0 ? '' : (readTextSyncIfExists(join(workTree, '.gitmodules')) ?? '')
  const paths = new Set([...text.matchAll(/^\s*path\s*=\s*"?(.+?)"?\s*$/gm)].map(([, path]) => path))
  const files: string[] = []
  const nested: string[] = []
  for (const path of repositories) {
    if (!paths.has(path)) nested.push(path)
    else {
      const inSubmodule = { workTree: join(workTree, path), index: join(own.folder, 'empty.idx') }
      const listed = await own.run(inSubmodule, 'ls-files', '-z', '-o', '--exclude-standard')
      const inside = names(listed).map((name) => `${path}/${name}`)
      files.push(...inside.filter((name) => !name.endsWith('/')))
      nested.push(...inside.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1)))
    }
  }
  return { files, nested }
}

const removal = ['update-index', '--force-remove', '-z', '--stdin']

const joinNames = (paths: Iterable<string>): string => [...paths].map((path) => `${path}\0`).join('')

/** The same as for checkpoints. */
const maxBytes = 1024 ** 3

/** Large files that the user does not track, by path: reading one takes minutes. */
async function findLarge(own: OwnGit, workTree: string, paths: readonly string[]): Promise<Map<string, string>> {
  const sized = paths.map((path) => ({ path, bytes: lstatSize(join(workTree, path)) }))
  const large = new Map(
    sized
      .filter(({ bytes }) => bytes > maxBytes)
      .map(({ path, bytes }) => [path, `${path} (${(bytes / maxBytes).toFixed(1)} GB)`]),
  )
  const index = large.size === 0 ? undefined : projectIndex(workTree)
  if (index === undefined) return large
  const words = ['--literal-pathspecs', 'ls-files', '-z', '--', ...large.keys()]
  for (const path of names(await own.run({ workTree, index }, ...words).catch(() => Buffer.from(''))))
    large.delete(path)
  return large
}

/** Installed packages and compiled files, also where the project ignores nothing. Tracked files still count. */
const ownExcludes = 'node_modules/\n.venv/\nvenv/\n__pycache__/\n*.pyc\n.pytest_cache/\n'

type Target = {
  readonly workTree: string
  readonly index: string
  readonly background?: boolean | undefined
  readonly isFirst: boolean
}

/** With more unreadable files than this the snapshot fails. */
const maxUnreadable = 50

async function addToIndex(own: OwnGit, target: Target, paths: readonly string[]): Promise<string[]> {
  const { isFirst, ...options } = target
  // Streams every file into one pack: 100,000 separate object files would take minutes.
  const words = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin']
  const settings = isFirst ? ['core.bigFileThreshold=1', 'core.compression=1'] : []
  const unreadable = new Set<string>()
  for (;;) {
    const input = paths.filter((path) => !unreadable.has(path)).join('\0')
    try {
      if (input !== '') await own.run({ ...options, settings, input: `${input}\0` }, ...words)
      return [...unreadable]
    } catch (error) {
      const path = /Unable to process path (.*)/.exec(errorMessage(error))?.[1]
      if (path === undefined || unreadable.has(path) || unreadable.size === maxUnreadable) throw error
      unreadable.add(path)
      await removeFile(`${target.index}.lock`)
    }
  }
}

/** Names only, from the project's own index: its objects and flags are not used. An index that cannot be read names none. */
async function listIgnoredButTracked(own: OwnGit, workTree: string): Promise<string[]> {
  const index = projectIndex(workTree)
  if (index === undefined) return []
  const listed = own.run({ workTree, index }, 'ls-files', '-z', '-i', '-c', '--exclude-standard')
  return names(await listed.catch(() => Buffer.from('')))
}

function projectIndex(project: string): string | undefined {
  const index = join(projectGit(project), 'index')
  return isFile(index) ? index : undefined
}

/** Read before the first agent runs, so later changes by an agent have no effect. */
function projectExcludes(project: string): string {
  const folder = projectGit(project)
  const common = readTextSyncIfExists(join(folder, 'commondir'))?.trim() ?? '.'
  return readTextSyncIfExists(join(resolve(folder, common), 'info', 'exclude')) ?? ''
}

/** The git folder of the project; of a worktree its own one. */
function projectGit(project: string): string {
  const link = join(project, '.git')
  if (!isFile(link)) return link
  return resolve(project, /^gitdir: (.*)$/m.exec(readTextSyncIfExists(link) ?? '')?.[1] ?? '.git')
}

/** The files at or below paths, ignored or not. */
async function listBelow(own: OwnGit, workTree: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  const index = join(own.folder, 'empty.idx')
  const specs = paths.map((path) => `:(top,literal)${path}`)
  return names(await own.run({ workTree, index }, 'ls-files', '-z', '-o', '--', ...specs)).filter(
    (path) => !path.endsWith('/'),
  )
}

const names = (output: Buffer): string[] => output.toString().split('\0').filter(Boolean)

const lfsPointer = 'version https://git-lfs.github.com/spec/v1\n'

/** Files whose content lies on an LFS server: the room has the pointer only, as the work tree has. */
export async function findLfsPointers(own: OwnGit, tree: string): Promise<string[]> {
  const files = await own.list(tree)
  const attributes = [...files].filter(([path]) => /(^|\/)\.gitattributes$/.test(path)).map(([, { id }]) => id)
  const texts = await own.readBlobs(attributes)
  if (!texts.some((text) => text.includes('filter=lfs'))) return []
  const listed = (await own.run({}, 'ls-tree', '-r', '-l', '-z', '--full-tree', tree)).toString().split('\0')
  const small = listed.flatMap((line) => {
    const [, id, size, path] = /^\d+ blob (\w+) +(\d+)\t(.*)$/s.exec(line) ?? []
    return id !== undefined && path !== undefined && Number(size) < 1024 ? [{ id, path }] : []
  })
  const contents = await own.readBlobs(small.map(({ id }) => id))
  return small.filter((_, number) => contents[number]?.toString().startsWith(lfsPointer)).map(({ path }) => path)
}
