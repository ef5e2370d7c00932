import { join } from 'node:path'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { exists, createFolder, readTextIfExists, removeFile } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { git, type GitOptions } from '../../platform/git.ts'
import { storeOptions, userObjects } from './checkpoint-store.ts'
import { listRefs, type ListedRef } from './pin-checkpoints.ts'
import { checkpointRefs, requireSingleRepository, type Repository, type WorkspaceOptions } from './repositories.ts'
import { writeWorkTree } from './work-tree.ts'

/** A folder, or some files in it, to store besides the work tree. */
export type ExtraFolder = { readonly name: string; readonly folder: string; readonly only?: string }

export type SnapshotOptions = WorkspaceOptions & {
  /** A URL or a folder. */
  readonly remote: string
  readonly extraFolders: readonly ExtraFolder[]
  /** Ralph's private folder, out of reach of the agent. */
  readonly snapshotFolder: string
  /** The files of the start, which claims are measured against, and the folder of their objects. */
  readonly baseline?: { readonly tree: string; readonly objects: string } | undefined
}

const networkMs = 120_000
/** A machine that takes over knows one of the last two; older snapshots are removed from the remote. */
const keptSnapshots = 3

/**
 * Pushes the current files, HEAD, all checkpoints of the sprint and the folders beside it, as one commit under a ref that bears
 * its name: refs never move, so a late push overwrites nothing. Skips the push if nothing changed. Resolves with the commit.
 */
export async function pushSnapshot(options: SnapshotOptions): Promise<string> {
  const { snapshotFolder, remote } = options
  const repository = await requireSingleRepository(options)
  const { root } = repository
  const head = await git({ cwd: root }, 'rev-parse', '--verify', '--quiet', 'HEAD').catch(() => undefined)
  const work = (await writeWorkTree(repository)).tree
  const checkpoints = await listRefs(storeOptions(repository), repository.refs)
  // HEAD and what it needs are in the user's repository, everything else is in the store.
  const objects = [userObjects(repository), ...(options.baseline ? [options.baseline.objects] : [])]
  const store = { ...storeOptions(repository), alternates: objects.join(':') }
  // Of another length in a repository with another kind of hashes.
  const hasBaseline = options.baseline?.tree.length === work.length
  const started = hasBaseline ? [`040000 tree ${options.baseline.tree}\tbaseline`] : []
  const parts = [`040000 tree ${work}\twork`, ...started, ...(await writeExtraTrees(options, repository))]
  const input = await formatSnapshotState(repository, head, checkpoints)
  const state = await git({ ...store, input }, 'hash-object', '-w', '--stdin')
  const entries = `${[...parts, `100644 blob ${state}\tstate`].join('\n')}\n`
  const tree = await git({ ...store, input: entries }, 'mktree')
  const last = checkpoints.find(({ name }) => name === 'last')?.commit
  const before = await readPushedCommits(snapshotFolder)
  const newest = before.at(-1)
  if (newest !== undefined && (await hasTree(store, newest, tree))) return newest
  const parents = [head, last].flatMap((id) => (id === undefined ? [] : ['-p', id]))
  const commit = await git({ ...store, input: `Ralph ${options.sprintId}` }, 'commit-tree', tree, ...parents)
  const relay = await openRelay(options, repository)
  await gitOverNetwork(relay, 'push', '--quiet', '--', remote, `${commit}:${snapshotRef(options, commit)}`)
  const old = before.slice(0, 1 - keptSnapshots)
  await writeFileAtomic(
    pushedFile(snapshotFolder),
    [...before.slice(1 - keptSnapshots), commit].map((id) => `${id}\n`).join(''),
  )
  const gone = old.map((id) => `:${snapshotRef(options, id)}`)
  if (gone.length > 0) await gitOverNetwork(relay, 'push', '--quiet', '--', remote, ...gone).catch(() => {})
  return commit
}

/** Restores a fresh clone to a pushed commit. Throws CHECKPOINT_NOT_FOUND if it was never pushed, or was removed. */
export async function restorePushedSnapshot(options: SnapshotOptions, commit: string): Promise<void> {
  const { project: root, remote } = options
  const ref = snapshotRef(options, commit)
  await gitOverNetwork(root, 'fetch', '--quiet', '--no-tags', '--', remote, `+${ref}:${ref}`).catch(
    (cause: unknown) => {
      const hint = errorMessage(cause)
      throw new RalphError('CHECKPOINT_NOT_FOUND', 'the snapshot that the lost machine pushed cannot be fetched', {
        cause,
        hint,
      })
    },
  )
  const { head, branch, checkpoints } = parseSnapshotState(await git({ cwd: root }, 'show', `${commit}:state`))
  if (branch !== undefined) await git({ cwd: root }, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`)
  if (head !== undefined) await git({ cwd: root }, 'reset', '--quiet', '--hard', head)
  await git({ cwd: root }, 'restore', `--source=${commit}:work`, '--worktree', '--no-overlay', '--', '.')
  for (const { name, id } of checkpoints)
    await git({ cwd: root }, 'update-ref', `${checkpointRefs(root, options)}/${name}`, id)
  const names = (await git({ cwd: root }, 'ls-tree', '--name-only', commit)).split('\n')
  for (const extra of options.extraFolders)
    if (names.includes(extra.name)) await unpackExtraFolder(options, commit, extra)
  await createFolder(options.snapshotFolder)
  await writeFileAtomic(pushedFile(options.snapshotFolder), `${commit}\n`)
}

const snapshotRefs = ({ sprintId }: Pick<WorkspaceOptions, 'sprintId'>): string => `refs/ralph/${sprintId}`

/** The ref that holds a pushed commit. */
export const snapshotRef = (options: Pick<WorkspaceOptions, 'sprintId'>, commit: string): string =>
  `${snapshotRefs(options)}/pushed-${commit}`

const pushedFile = (snapshotFolder: string): string => join(snapshotFolder, 'pushed')

async function readPushedCommits(snapshotFolder: string): Promise<string[]> {
  const text = (await readTextIfExists(pushedFile(snapshotFolder))) ?? ''
  return text.split('\n').filter((line) => line !== '')
}

const hasTree = async (store: GitOptions, commit: string, tree: string): Promise<boolean> =>
  (await git(store, 'rev-parse', '--verify', '--quiet', `${commit}^{tree}`).catch(() => undefined)) === tree

/**
 * A private repository with all objects of the project but none of its settings: the agent controls those, and they could name
 * programs that a push starts.
 */
async function openRelay({ snapshotFolder, baseline }: SnapshotOptions, { root, store }: Repository): Promise<string> {
  const relay = join(snapshotFolder, 'relay.git')
  await createFolder(relay)
  await git({ cwd: relay }, 'init', '--quiet', '--bare')
  const users = await git({ cwd: root }, 'rev-parse', '--path-format=absolute', '--git-path', 'objects')
  await createFolder(join(relay, 'objects', 'info'))
  const folders = [users, join(store, 'objects'), ...(baseline ? [baseline.objects] : [])]
  await writeFileAtomic(join(relay, 'objects', 'info', 'alternates'), `${folders.join('\n')}\n`)
  return relay
}

/** No user is present to enter a password, and a URL must not start a program. */
const gitOverNetwork = (root: string, ...args: readonly string[]): Promise<string> =>
  git({ cwd: root, timeoutMs: networkMs }, '-c', 'core.askPass=true', '-c', 'protocol.ext.allow=never', ...args)

/** HEAD, its branch and the checkpoints, one per line. Part of the tree, so that a new commit alone changes the tree. */
async function formatSnapshotState(
  { root }: Repository,
  head: string | undefined,
  checkpoints: readonly ListedRef[],
): Promise<string> {
  const branch = await git({ cwd: root }, 'symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => undefined)
  const lines = [
    head === undefined ? [] : [`head ${head}`],
    branch === undefined ? [] : [`branch ${branch}`],
    checkpoints.map(({ name, commit }) => `${name} ${commit}`).filter((line) => checkpointLine.test(line)),
  ]
  return `${lines.flat().join('\n')}\n`
}

const checkpointLine = /^(?:\d+|last) [0-9a-f]{40,64}$/

function parseSnapshotState(text: string) {
  const lines = text.split('\n')
  const findValue = (name: string, form: RegExp) => {
    const value = lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1)
    return value !== undefined && form.test(value) ? value : undefined
  }
  const checkpoints = lines
    .filter((line) => checkpointLine.test(line))
    .map((line) => line.split(' '))
    .map(([name = '', id = '']) => ({ name, id }))
  return { head: findValue('head', /^[0-9a-f]{40,64}$/), branch: findValue('branch', /^\w[\w./-]*$/), checkpoints }
}

async function writeExtraTrees(
  { extraFolders, sprintDir }: SnapshotOptions,
  repository: Repository,
): Promise<string[]> {
  const lines = []
  for (const { name, folder, only = '.' } of extraFolders) {
    if (!exists(join(folder, only))) continue
    const place = { ...storeOptions(repository), cwd: folder, index: await emptyIndex(sprintDir) }
    await git(place, 'add', '--all', '--force', '--', only)
    lines.push(`040000 tree ${await git(place, 'write-tree')}\t${name}`)
  }
  return lines
}

async function unpackExtraFolder(
  options: SnapshotOptions,
  commit: string,
  { name, folder }: ExtraFolder,
): Promise<void> {
  const { project: root, sprintDir } = options
  const index = await emptyIndex(sprintDir)
  await createFolder(folder)
  await git({ cwd: root, index }, 'read-tree', `${commit}:${name}`)
  await git({ cwd: root, index }, 'checkout-index', '--all', '--force', `--prefix=${folder}/`)
}

async function emptyIndex(sprintDir: string): Promise<string> {
  const index = join(stateFolder(sprintDir), 'index', 'beside')
  await createFolder(join(stateFolder(sprintDir), 'index'))
  await removeFile(index)
  await removeFile(`${index}.lock`)
  return index
}
