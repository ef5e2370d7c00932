import { join } from 'node:path'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { readMode, readTextIfExists, setMode } from '../../platform/files/files.ts'
import { resolvePath } from './byte-paths.ts'
import type { Repository } from './repositories.ts'

/** By path, one character per byte. */
type Permissions = ReadonlyMap<string, number>

const permissionsFile = ({ store }: Repository): string => join(store, 'permissions')

/**
 * Git stores only whether a file is executable. Files that not everybody may read are remembered beside the store, so that a
 * restored secret does not become public. Call it for the files of a checkpoint that changed.
 */
export async function rememberPermissions(repository: Repository, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return
  const known = await readRemembered(repository)
  const next = new Map(known)
  for (const path of paths) {
    const mode = readMode(resolvePath(repository.root, path))
    // A deleted file may come back.
    if (mode === undefined) continue
    if ((mode & 0o644) === 0o644) next.delete(path)
    else next.set(path, mode)
  }
  if (next.size === known.size && [...next].every(([path, mode]) => known.get(path) === mode)) return
  const lines = [...next].map(([path, mode]) => `${mode.toString(8)} ${path}\0`)
  await writeFileAtomic(permissionsFile(repository), lines.join(''))
}

async function readRemembered(repository: Repository): Promise<Permissions> {
  const text = (await readTextIfExists(permissionsFile(repository))) ?? ''
  const entries = text.split('\0').flatMap((line) => {
    const [, mode, path] = /^([0-7]{1,3}) ([^]+)$/.exec(line) ?? []
    return mode === undefined || path === undefined ? [] : ([[path, parseInt(mode, 8)]] as const)
  })
  return new Map(entries)
}

/** Of the files that are there, as they are; of the others, as a checkpoint has seen them. */
export async function readPermissions(repository: Repository, paths: readonly string[]): Promise<Permissions> {
  const remembered = await readRemembered(repository)
  const entries = paths.flatMap((path) => {
    const mode = readMode(resolvePath(repository.root, path)) ?? remembered.get(path)
    return mode === undefined ? [] : ([[path, mode]] as const)
  })
  return new Map(entries)
}

/** After a checkout: who may read and write a file is as before, and whether it is executable is as git stored it. */
export async function setPermissions({ root }: Repository, permissions: Permissions): Promise<void> {
  for (const [path, before] of permissions) {
    const file = resolvePath(root, path)
    const mode = readMode(file)
    if (mode === undefined) continue
    const execute = (mode & 0o100) === 0 ? 0 : (before & 0o444) >> 2
    const next = (before & 0o666) | execute
    if (next !== mode) await setMode(file, next)
  }
}
