import { basename, dirname, join, resolve } from 'node:path'
import {
  exists,
  isFolder,
  isLink,
  leadsOut,
  listEntries,
  listFolder,
  readTextSyncIfExists,
  realPath,
} from '../../../platform/files/files.ts'
import { git } from '../../../platform/git.ts'
import { listSubmodules } from './repositories.ts'

export type KnownRepositories = {
  readonly isKnown: (link: string) => Promise<boolean>
  /** Folders of git, with a slash behind. */
  readonly known: ReadonlySet<string>
  readonly workTrees: readonly string[]
}

/**
 * The `.git` of new repositories whose settings or hooks git would execute. A user who adds all files makes submodules of them, and from
 * then on `git status` in the project executes what they name; an editor that looks for repositories does so at once.
 */
export async function listExecuting(
  cwd: string,
  links: readonly string[],
  { isKnown, known, workTrees }: KnownRepositories,
): Promise<string[]> {
  const untracked = await Promise.all(workTrees.map(listUntracked))
  const checked = await Promise.all(
    [...new Set([...links, ...untracked.flat()])].map(async (link) =>
      (await isKnown(link)) || (await isPlain(link, { cwd, known }).catch(() => false)) ? [] : [link],
    ),
  )
  return checked.flat()
}

/** Repositories that `git add` would make submodules, no matter how deep. */
async function listUntracked(workTree: string): Promise<string[]> {
  const listed = await git({ cwd: workTree }, 'ls-files', '--others', '--exclude-standard', '-z').catch(() => '')
  return listed.split('\0').flatMap((name) => (name.endsWith('/') ? [join(workTree, name, '.git')] : []))
}

type Surroundings = { readonly cwd: string; readonly known: ReadonlySet<string> }

/** Whether git executes nothing that this repository, or a submodule of it, names. */
async function isPlain(link: string, { cwd, known }: Surroundings): Promise<boolean> {
  if (isLink(link)) return false
  const folder = isFolder(link) ? link : readGitFile(link)
  if (folder === undefined || isOwnWorktree(folder, known)) return true
  if (leadsOut(folder, cwd) || !(await isPlainFolder(folder))) return false
  const submodules = (await listSubmodules(dirname(link))).filter((each) => exists(each) && each !== link)
  const plain = await Promise.all(submodules.map((each) => isPlain(each, { cwd, known })))
  return plain.every(Boolean)
}

export function readGitFile(link: string): string | undefined {
  const own = /^gitdir: (.*)$/m.exec(readTextSyncIfExists(link) ?? '')?.[1]
  return own === undefined ? undefined : resolve(dirname(link), own)
}

/** A worktree of a repository whose settings and hooks are the user's. */
function isOwnWorktree(folder: string, known: ReadonlySet<string>): boolean {
  if (!exists(folder) || basename(dirname(folder)) !== 'worktrees') return false
  const common = dirname(dirname(realPath(folder)))
  return (
    known.has(`${common}/`) &&
    readTextSyncIfExists(join(folder, 'commondir'))?.trim() === '../..' &&
    (readTextSyncIfExists(join(folder, 'config.worktree')) ?? '') === ''
  )
}

/** What git may read of a repository before it executes something. As links, a later attempt would change what they lead to. */
const obeyedNames = [
  ...'HEAD config config.worktree commondir hooks info info/attributes modules objects objects/info'.split(' '),
  ...'objects/info/alternates refs remotes branches worktrees rebase-merge rebase-apply sequencer'.split(' '),
]

/** Whether git executes nothing that this folder of a repository names. */
export async function isPlainFolder(folder: string): Promise<boolean> {
  if (['commondir', 'config.worktree'].some((name) => exists(join(folder, name)))) return false
  if (obeyedNames.some((name) => isLink(join(folder, name)))) return false
  if ((await listEntries(join(folder, 'worktrees'))).some(({ kind }) => kind === 'link')) return false
  const hooks = await listFolder(join(folder, 'hooks'))
  return hooks.every((name) => name.endsWith('.sample')) && isPlainConfig(join(folder, 'config'))
}

/** By section, the settings by which git executes nothing, in the form that git itself writes. */
const plainSettings: Readonly<Record<string, string>> = {
  core: 'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol longpaths',
  extensions: 'objectformat refstorage',
  user: 'name email',
  commit: 'gpgsign',
  tag: 'gpgsign',
  init: 'defaultbranch',
  receive: 'denycurrentbranch',
  branch: 'remote merge rebase',
  remote: 'url pushurl fetch tagopt mirror',
  submodule: 'active url',
  pull: 'rebase ff',
  push: 'default',
  gc: 'auto',
}

function isPlainConfig(path: string): boolean {
  let section = ''
  return (readTextSyncIfExists(path) ?? '').split('\n').every((line) => {
    if (/^\s*(?:[#;].*)?$/.test(line)) return true
    const header = /^\s*\[([\w-]+)(?: "[^"\\]*")?\]\s*$/.exec(line)?.[1]
    if (header !== undefined) return (section = header.toLowerCase()) in plainSettings
    const [, key = '', value = ''] = /^\s*([a-z][\w-]*)\s*=\s*([^"\\]*)$/i.exec(line) ?? []
    // `ext::` and its like are commands.
    return plainSettings[section]?.split(' ').includes(key.toLowerCase()) === true && !/^\s*[\w+.-]+::/.test(value)
  })
}
