import { join, posix } from 'node:path'
import { z } from 'zod'
import { isFolder, isLink, readTextSyncIfExists, realPath } from '../../platform/files/files.ts'
import { writePrivateFile } from '../../platform/files/private-file.ts'
import { readStatManifest, type StatManifest } from '../../platform/files/stat-manifest.ts'

const Folder = z.object({
  /** Relative to the project. */
  at: z.string(),
  /** Where its files are: the folder itself, or what it is a link to. */
  real: z.string(),
  entries: z.record(z.string(), z.string()),
})

/** Ignored folders with installed packages, as the file system describes them before the first agent. */
const DependencyRecord = z.object({ folders: z.array(Folder) })
export type DependencyRecord = z.infer<typeof DependencyRecord>

export type DependencyPlaces = {
  readonly project: string
  /** Folders of packages, '' for the project itself. */
  readonly packageRoots: readonly string[]
  /** Names below a package root: `node_modules`. */
  readonly names: readonly string[]
  /** Names inside of them that tools write to. */
  readonly caches: readonly string[]
  /** Whether a folder holds files of the tree: then it is no dependency. */
  readonly isTracked: (folder: string) => boolean
}

export type DependencyChange = { readonly path: string; readonly change: 'changed' | 'deleted' | 'added' }

/** Taken once, before any agent runs: a program that mapped a file before could write to it without a trace. */
export async function recordDependencies(places: DependencyPlaces): Promise<DependencyRecord> {
  const folders = await Promise.all(
    findFolders(places).map(async (at) => {
      const real = realPath(join(places.project, at))
      return { at, real, entries: Object.fromEntries(await readStatManifest(real, new Set(places.caches))) }
    }),
  )
  return { folders }
}

export const saveDependencies = (file: string, record: DependencyRecord): Promise<void> =>
  writePrivateFile(file, JSON.stringify(record))

export function loadDependencies(file: string): DependencyRecord | undefined {
  const text = readTextSyncIfExists(file)
  return text === undefined ? undefined : DependencyRecord.parse(JSON.parse(text))
}

/** Lists what differs from the record. Ignores caches of tools, which the room does not show. */
export async function compareDependencies(
  { folders }: DependencyRecord,
  places: DependencyPlaces,
): Promise<DependencyChange[]> {
  const caches = new Set(places.caches)
  const known = new Set(folders.map(({ at }) => at))
  const added = findFolders(places).filter((at) => !known.has(at))
  const changes = await Promise.all(
    folders.map(async ({ at, real, entries }): Promise<DependencyChange[]> => {
      const path = join(places.project, at)
      if (!isFolder(path)) return [{ path: at, change: 'deleted' }]
      if (realPath(path) !== real) return [{ path: at, change: 'changed' }]
      return compareEntries(at, entries, await readStatManifest(real, caches))
    }),
  )
  return [...changes.flat(), ...added.map((path) => ({ path, change: 'added' as const }))]
}

function compareEntries(at: string, before: Readonly<Record<string, string>>, after: StatManifest): DependencyChange[] {
  const changes: DependencyChange[] = []
  for (const [path, signature] of after) {
    if (before[path] === signature) continue
    changes.push({ path: posix.join(at, path), change: before[path] === undefined ? 'added' : 'changed' })
  }
  for (const path of Object.keys(before))
    if (!after.has(path)) changes.push({ path: posix.join(at, path), change: 'deleted' })
  return changes
}

export const findFolders = ({ project, packageRoots, names, isTracked }: DependencyPlaces): string[] =>
  packageRoots
    .flatMap((root) => names.map((name) => posix.join(root, name)))
    .filter((at) => isFolder(join(project, at)) && !isTracked(at) && !leadsThroughLink(project, at))

/** A package folder that is a link is seen where it leads to. */
const leadsThroughLink = (project: string, at: string): boolean =>
  at
    .split('/')
    .slice(0, -1)
    .some((_, n, parts) => isLink(join(project, ...parts.slice(0, n + 1))))
