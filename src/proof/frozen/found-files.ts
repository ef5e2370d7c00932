import { posix } from 'node:path'
import type { OwnGit, TreeChange, TreeEntry } from '../room/own-git.ts'
import { listEntries } from './merge-keys.ts'
import { isCode, listImports } from './test-helpers.ts'

type FoundFilesOptions = {
  readonly before: ReadonlyMap<string, TreeEntry>
  readonly after: ReadonlyMap<string, TreeEntry>
  readonly changes: readonly TreeChange[]
  /** Whether a runner loads a file of that name without being asked. */
  readonly isFound: (path: string) => boolean
  /** A test, or a setting: its text of the start counts. */
  readonly isFrozen: (path: string) => boolean
}

/** More files than this are not read. */
const maxFiles = 3000

/**
 * Changed files that only a runner loads, because of their names: no file of the start imports them, directly or through new
 * files. They run beside the tests and are no part of the work, whatever they do there.
 */
export async function listFoundFiles(own: Pick<OwnGit, 'readBlobs'>, options: FoundFilesOptions): Promise<string[]> {
  const { before, after, changes, isFound, isFrozen } = options
  const candidates = changes.filter(
    ({ path, after: now }) => now?.mode.startsWith('100') && isCode.test(path) && isFound(path) && !isFrozen(path),
  )
  if (candidates.length === 0) return []
  const known = new Set([...before.keys(), ...after.keys()])
  const textEntry = (path: string) => (isFrozen(path) ? before.get(path) : after.get(path))
  const read = async (paths: readonly string[]) => {
    const files = paths.flatMap((path) => {
      const entry = textEntry(path)
      return entry?.mode.startsWith('100') ? [{ path, id: entry.id }] : []
    })
    const texts = (await own.readBlobs(files.map(({ id }) => id))).map(String)
    return files.map(({ path }, at) => ({ path, text: texts[at] ?? '' }))
  }
  const reached = new Set<string>()
  let level = [...before.keys()].filter((path) => isCode.test(path) || isManifest(path)).slice(0, maxFiles)
  while (level.length > 0) {
    const targets = (await read(level)).flatMap(({ path, text }) =>
      listTargets(path, text, known).filter((target) => target !== path),
    )
    level = [...new Set(targets)].filter((path) => !reached.has(path) && !before.has(path))
    for (const target of targets) reached.add(target)
  }
  return candidates.map(({ path }) => path).filter((path) => !reached.has(path) && !isProgram(path, known))
}

const isManifest = (path: string): boolean => posix.basename(path) === 'package.json'

/** A package that is started by its name. */
const isProgram = (path: string, known: ReadonlySet<string>): boolean =>
  path.endsWith('/__init__.py') && known.has(posix.join(posix.dirname(path), '__main__.py'))

function listTargets(path: string, text: string, known: ReadonlySet<string>): string[] {
  if (isManifest(path)) return listEntries(text).map((target) => posix.join(posix.dirname(path), target))
  const imported = listImports(path, text, known)
  return path.endsWith('.py') ? imported.flatMap((target) => [...listPackages(target, path), target]) : imported
}

/** The packages that Python loads on the way to a module, but for those that the importing module is in. */
function listPackages(target: string, from: string): string[] {
  const found: string[] = []
  for (let folder = posix.dirname(target); folder !== '.'; folder = posix.dirname(folder))
    if (!from.startsWith(`${folder}/`)) found.push(`${folder}/__init__.py`)
  return found
}
