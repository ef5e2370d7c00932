import { basename, dirname, join } from 'node:path'
import {
  createTemporaryFolder,
  existsItself,
  listEntries,
  listFolder,
  removeFolder,
} from '../../../platform/files/files.ts'
import { createLink, readLink } from '../../../platform/files/links.ts'
import { plumb } from '../../../platform/git-plumbing.ts'
import { moveAside, takeAway } from './move-aside.ts'
import { describeRepository, listExecutingBare } from './bare-repositories.ts'
import { listConfigured, listLinkedHooks } from './configured-files.ts'
import { listExecuting } from './new-repositories.ts'
import {
  findRepositories,
  gitFolders,
  interruptedWork,
  isClosed,
  listSubmodules,
  type RepositoryLook,
} from './repositories.ts'

/** Paths by which Ralph recognizes after an attempt what appeared in it. */
type GitNames = {
  /** Absent in lists of earlier versions, with all below. */
  readonly cwd?: string
  readonly paths: readonly string[]
  /** Where the links in folders of git lead. */
  readonly targets?: Readonly<Record<string, string>>
  readonly isComplete?: boolean
  readonly startedAt?: number
}

/**
 * The `.git` of all repositories, the paths directly in the folders of git, all links and locks below, files that the configuration
 * names, and the folders with a slash behind: to be compared after the attempt.
 */
export async function listGitNames(look: RepositoryLook): Promise<string> {
  const { cwd, links, folders, submodules, configured, bare, isComplete } = look
  const found = await Promise.all(folders.map(findLinks))
  const lists = await Promise.all(
    folders.map(async (folder, n) => [
      `${folder}/`,
      ...(await listFolder(folder)).map((name) => join(folder, name)),
      ...(found[n] ?? []).map(describeLink),
    ]),
  )
  const closed = links.filter((link) => isClosed(link, cwd))
  const described = await Promise.all(
    [...bare, ...links.filter((link) => !closed.includes(link))].map(describeRepository),
  )
  const configuredNames = configured.map(describeConfigured)
  // A name may contain a line break, and then a list in lines would seem to have another path.
  return JSON.stringify({
    cwd,
    paths: [
      ...links,
      ...submodules.map(describeSubmodule),
      ...configuredNames,
      ...lists.flat(),
      ...described,
      ...closed.map(describeClosed),
    ],
    targets: Object.fromEntries(
      found.flat().flatMap((path) => {
        const target = readLink(path)
        return target === undefined ? [] : [[path, target]]
      }),
    ),
    isComplete,
    startedAt: Date.now(),
  } satisfies GitNames)
}

function parseNames(before: string): GitNames {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes it, where no agent can
  return before.startsWith('{') ? (JSON.parse(before) as GitNames) : { paths: before.split('\n') }
}

/** A repository in which an agent could change nothing that git executes, unless it replaced a link. */
const describeClosed = (link: string): string => `closed ${describeLink(link)}`

/** Changes if a missing file appears, or a link leads elsewhere. */
const describeConfigured = (path: string): string => `configured ${existsItself(path) ? describeLink(path) : path}`

const describeSubmodule = (link: string): string => `submodule ${link}`

/**
 * Takes away what appeared in folders of git and would change what git does there: `commondir` makes git read another configuration, the
 * steps of a rebase may be commands, a lock that a killed program left keeps the user's git from working, and through a link git would write to a file elsewhere, e.g. a
 * commit message to `.bashrc`. git itself makes no links there. Steps of a rebase may be the user's, so they are moved aside. Resolves
 * with one line for each.
 */
export async function removePlanted(before: string): Promise<string[]> {
  const names = parseNames(before)
  const known = new Set(names.paths)
  const lines: string[] = []
  for (const folder of [...known].filter((path) => path.endsWith('/'))) {
    const links = (await findLinks(folder.slice(0, -1))).filter((path) => !known.has(describeLink(path)))
    const paths = (await listFolder(folder)).map((name) => join(folder, name)).filter((path) => !known.has(path))
    const harmful = paths.filter((path) => basename(path) === 'commondir' || path.endsWith('.lock'))
    for (const path of new Set([...harmful, ...links])) {
      lines.push(`${await takeAway(path)}, which a program left and which would change what git does`)
    }
    const steps = paths.filter((path) => interruptedWork.includes(basename(path)) && !links.includes(path))
    for (const path of steps) lines.push(`${await moveAside(path)}: ${whyMoved}`)
  }
  lines.push(...(await restoreLinks(names.targets ?? {})))
  // Earlier versions did not say which of the known ones were closed.
  const isKnown = async (link: string): Promise<boolean> =>
    (names.isComplete === undefined ? known.has(link) : known.has(describeClosed(link))) ||
    known.has(await describeRepository(link))
  lines.push(...(await removeSubmodules(known, isKnown)))
  return names.cwd === undefined ? lines : [...lines, ...(await removeObeyed({ ...names, cwd: names.cwd }, isKnown))]
}

type IsKnown = (link: string) => Promise<boolean>

/** The user's links by which git executes something: a mount covers what they lead to, but not the links themselves. */
async function restoreLinks(targets: Readonly<Record<string, string>>): Promise<string[]> {
  const lines: string[] = []
  for (const [path, target] of Object.entries(targets)) {
    if (!/\/(?:hooks|hooks\/[^/]+|config|config\.worktree|info|info\/attributes|modules)$/.test(path)) continue
    if (readLink(path) === target) continue
    const moved = existsItself(path) ? `${await moveAside(path)}: ` : ''
    await createLink(target, path).catch(() => {})
    lines.push(`${moved}restored the link ${path}, by which your git finds what it executes`)
  }
  return lines
}

/** New files that the user's configuration of git names, and new repositories whose own settings or hooks git would execute. */
async function removeObeyed(
  { cwd, paths, isComplete = false, startedAt = 0 }: GitNames & { readonly cwd: string },
  isKnown: IsKnown,
): Promise<string[]> {
  const known = new Set(paths)
  const lines: string[] = []
  const workTrees = paths.filter((path) => basename(path) === '.git').map((path) => dirname(path))
  const folders = paths.filter((path) => path.endsWith('/'))
  const configured = await Promise.all([
    ...workTrees.map((workTree) => listConfigured(workTree, cwd)),
    ...folders.map((folder) => listLinkedHooks(folder.slice(0, -1), cwd)),
  ])
  for (const path of new Set(configured.flat())) {
    if (!existsItself(path) || known.has(describeConfigured(path))) continue
    lines.push(`${await moveAside(path)}: it appeared while the agent worked, and your git obeys it`)
  }
  const found = await findRepositories(cwd)
  for (const link of await listExecuting(cwd, found.links, { known, isKnown, workTrees })) {
    lines.push(`${await moveAside(link)}: a program made this repository, and ${whyExecuted}`)
  }
  const before = { known, isComplete, startedAt }
  for (const folder of await listExecutingBare(workTrees, found, before)) {
    lines.push(`${await moveAside(join(folder, 'HEAD'))}: with it the folder is a repository, and ${whyExecuted}`)
  }
  return lines
}

const whyExecuted = 'git would execute what its settings or hooks name'

/**
 * Repositories that a program added to the index, or made in place of a submodule. The user's `git status` in the project would read their
 * configuration, and execute a filter or a monitor that it names. One that was there before may be the user's, so it only leaves the index.
 */
async function removeSubmodules(known: ReadonlySet<string>, isKnown: IsKnown): Promise<string[]> {
  const lines: string[] = []
  for (const workTree of [...known].filter((path) => basename(path) === '.git').map((path) => dirname(path))) {
    for (const link of (await listSubmodules(workTree)).filter((path) => existsItself(path))) {
      const isOld = await isKnown(link)
      if (isOld && known.has(describeSubmodule(link))) continue
      const isRemoved = isOld && (await removeFromIndex(dirname(link), workTree))
      const change = isRemoved ? `removed ${dirname(link)} from the index` : await moveAside(link)
      lines.push(
        `${change}: a program added this repository to yours, and "git status" would execute what its settings name`,
      )
    }
  }
  return lines
}

/** By a folder of git without settings: to read a sparse index, git may execute what the repository's settings name. */
async function removeFromIndex(path: string, workTree: string): Promise<boolean> {
  const [folder] = gitFolders(join(workTree, '.git'), workTree)
  if (folder === undefined) return false
  const gitDir = await createTemporaryFolder('ralph-git')
  try {
    await plumb({ gitDir }, 'init', '--quiet', '--bare', '--template=', gitDir)
    await plumb({ gitDir }, 'config', 'core.bare', 'false')
    await plumb({ gitDir, workTree, index: join(folder, 'index') }, 'update-index', '--force-remove', '--', path)
    return true
  } catch {
    return false
  } finally {
    await removeFolder(gitDir)
  }
}

const whyMoved =
  'it appeared while the agent worked, and "git rebase --continue" would run its steps; if the rebase is yours, move it back'

/** With its target: a file that was there may have become a link, and a link another one. */
const describeLink = (path: string): string => `${path}@${encodeURIComponent(readLink(path) ?? '')}`

/** Links and locks where git writes, which are few folders: not in those of single objects. */
async function findLinks(folder: string): Promise<string[]> {
  const links: string[] = []
  const queue = [folder]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const { name, kind } of await listEntries(next)) {
      if (kind === 'link' || (kind === 'file' && name.endsWith('.lock'))) links.push(join(next, name))
      else if (kind === 'folder' && !/\/objects\/[\da-f]{2}$/.test(join(next, name))) queue.push(join(next, name))
    }
  }
  return links
}
