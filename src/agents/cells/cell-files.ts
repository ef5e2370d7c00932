import { basename, dirname, join, relative } from 'node:path'
import {
  copyFileOver,
  exists,
  isFile,
  isFolder,
  listFolder,
  createFolder,
  createPrivateFolder,
  readTextIfExists,
  realPath,
} from '../../platform/files/files.ts'
import { removeForeignFolder } from '../../platform/files/disk-use.ts'
import { writeScratch } from '../../platform/files/scratch-files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { git } from '../../platform/git.ts'
import type { Driver } from '../drivers/driver.ts'
import { recordSettings, restoreSettings } from './agent-settings.ts'
import { homeView } from './home-view.ts'
import { homeFolder, type CellFiles } from './places.ts'
import { listGitNames, removePlanted } from './git/planted.ts'
import { lookForRepositories } from './git/repositories.ts'
import { systemCallFilter } from './seccomp.ts'
import { copyEtc } from './system-view.ts'
import { isWithin } from '../../platform/files/paths.ts'

/** The files that Ralph creates for the cell of one attempt. A Ralph that joins the attempt after a crash finds them. */
export type CellFolder = CellFiles & {
  /** What Ralph alone reads. */
  readonly base: string
  readonly systemCallFilter?: string | undefined
  readonly scratch: string
  readonly uid: number
  readonly gid: number
}

export type CellPlace = {
  readonly folder: string
  readonly sprintDir: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly driver?: Driver | undefined
  /** What cells of different attempts share. */
  readonly shared?: string | undefined
}

const cellFolder = ({ sprintDir, folder }: Pick<CellPlace, 'sprintDir' | 'folder'>): string =>
  join(stateFolder(sprintDir), 'tmp', basename(folder))

export async function makeCellFolder(place: CellPlace): Promise<CellFolder> {
  const base = cellFolder(place)
  const at = (name: string) => join(base, name)
  for (const name of ['', 'tmp', 'root', 'network']) await createPrivateFolder(at(name))
  const home = homeFolder(place.env)
  const [uid, gid] = [process.getuid?.() || 1000, process.getgid?.() || 1000]
  const filter = systemCallFilter(process.arch)
  const { files } = homeView(home, place.env, await gitIdentity(place))
  const texts: Record<string, string | Buffer> = {
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`home/${name}`, text])),
    ...(filter && { 'filter.bpf': filter }),
  }
  await Promise.all(Object.entries(texts).map(([name, data]) => writeScratch(at(name), data)))
  const repositories = await lookForRepositories(realPath(place.cwd), place.shared)
  const [, , , etc] = await Promise.all([
    recordSettings(base, place),
    exists(at('git-names')) || writeScratch(at('git-names'), await listGitNames(repositories)),
    copySprints(place, at('sprints')),
    copyEtc(place.shared ?? base, { uid, gid, home }),
  ])
  return {
    base,
    temporary: realPath(at('tmp')),
    etc,
    home: Object.fromEntries(Object.keys(files).map((name) => [name, realPath(at(`home/${name}`))])),
    sprints: realPath(at('sprints')),
    network: realPath(at('network')),
    systemCallFilter: filter && at('filter.bpf'),
    repositories,
    scratch: realPath(at('root')),
    uid,
    gid,
  }
}

/** Removes the files of an attempt. Resolves with one line for each thing that a program planted and Ralph removed. */
export async function clearCellFolder(place: Pick<CellPlace, 'sprintDir' | 'folder'>): Promise<string[]> {
  const base = cellFolder(place)
  const before = await readTextIfExists(join(base, 'git-names'))
  const planted = before === undefined ? [] : await removePlanted(before)
  const restored = await restoreSettings(base)
  await removeForeignFolder(base)
  return [...planted, ...restored]
}

/**
 * Other sprints are not for this agent to read, but a file that the repository tracks must be there: a commit of all changes
 * would delete it.
 */
async function copySprints({ cwd, sprintDir }: CellPlace, copy: string): Promise<void> {
  await createFolder(copy)
  const sprints = join(realPath(cwd), '.claude', 'sprints')
  if (!isFolder(sprints)) return
  const own = realPath(sprintDir)
  if (isWithin(own, sprints)) await createFolder(join(copy, relative(sprints, own)))
  const names = await listFolder(sprints)
  if (names.every((name) => isWithin(own, join(sprints, name)))) return
  const tracked = await git({ cwd: sprints }, 'ls-files', '-z').catch(() => '')
  for (const name of tracked.split('\0').filter((each) => each !== '')) {
    const path = join(sprints, name)
    if (isWithin(path, own) || !isFile(path)) continue
    await createFolder(dirname(join(copy, name)))
    // An agent can add any name to the index, but has every text in it already.
    const isOpen = basename(name) === 'SPRINT.yaml'
    if (isOpen) await copyFileOver(path, join(copy, name))
    else await writeScratch(join(copy, name), await readIndexed(sprints, name))
  }
}

async function readIndexed(cwd: string, name: string): Promise<Buffer> {
  const text = await git({ cwd, isBinary: true }, 'cat-file', 'blob', `:./${name}`).catch(() => '')
  return Buffer.from(`${text}\n`, 'latin1')
}

const identityKeys =
  /^(?:user\.(?:name|email)|init\.defaultbranch|core\.(?:autocrlf|eol|filemode)|pull\.\w+|merge\.conflictstyle)$/

const identities = new Map<string, Promise<string>>()

/** The user's git settings that contain no secret and run no program. Read once per home folder. */
function gitIdentity({ env, cwd }: Pick<CellPlace, 'env' | 'cwd'>): Promise<string> {
  const home = env['HOME'] ?? ''
  const known = identities.get(home) ?? readIdentity(cwd)
  identities.set(home, known)
  return known
}

async function readIdentity(cwd: string): Promise<string> {
  const listed = await git({ cwd }, 'config', '--global', '--null', '--list').catch(() => '')
  const entries = listed.split('\0').flatMap((entry) => {
    const [key = '', ...value] = entry.split('\n')
    return identityKeys.test(key) ? [{ key, value: value.join('\n') }] : []
  })
  // The folder belongs to another user as seen from inside, where root has another number.
  const safe = '[safe]\n\tdirectory = *\n'
  return (
    safe +
    entries
      .map(({ key, value }) => `[${key.split('.')[0]}]\n\t${key.split('.')[1]} = ${JSON.stringify(value)}\n`)
      .join('')
  )
}
