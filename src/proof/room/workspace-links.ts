import { join, posix } from 'node:path'
import { z } from 'zod'
import { exists, isFolderItself, isLink, realPath } from '../../platform/files/files.ts'
import { readStatManifest } from '../../platform/files/stat-manifest.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import type { DependencyChange, DependencyPlaces } from './dependencies.ts'
import { packageAt, type KnownPackages } from './known-packages.ts'

export type LinkRules = {
  readonly places: DependencyPlaces
  readonly known: KnownPackages
  /** Folders of packages in the claim, by the name in their manifest. */
  readonly folders: ReadonlyMap<string, string>
  /** Where the user's programs are. */
  readonly path: string
}

/**
 * Changes of `node_modules` without the links that an install makes to packages of the project itself: their code is in the tree,
 * and the agent's anyway. Such a link must bear the name that the package's own manifest has, and may not take the place of
 * an installed package or program.
 */
export async function withoutWorkspaceLinks(
  changes: readonly DependencyChange[],
  rules: LinkRules,
): Promise<DependencyChange[]> {
  const all = await Promise.all(changes.map((change) => expandFolder(change, rules.places)))
  return all.flat().filter((change) => !isWorkspaceLink(change, rules))
}

/** A new `node_modules` counts as one change: lists what is in it. */
async function expandFolder(change: DependencyChange, { project, caches }: DependencyPlaces) {
  if (change.change !== 'added' || posix.basename(change.path) !== 'node_modules') return [change]
  const found = await readStatManifest(join(project, change.path), new Set(caches))
  return [...found.keys()]
    .filter((path) => path !== '')
    .map((path): DependencyChange => ({ path: posix.join(change.path, path), change: 'added' }))
}

function isWorkspaceLink({ path, change }: DependencyChange, { places, known, folders, path: programs }: LinkRules) {
  if (!/(?:^|\/)node_modules\//.test(path)) return false
  const { name, below } = packageAt(path)
  const real = join(places.project, path)
  if (change === 'deleted') return below === '' && known.isLink(name) && !folders.has(name)
  if (isFolderItself(real)) return below === '' && (name === '.bin' || /^@[^/]+$/.test(name))
  if (!isLink(real) || !exists(real)) return false
  if (name === '.bin')
    return (
      change === 'added' &&
      isInside([...folders.values()], realPath(real), places.project) &&
      !known.hasProgram(below) &&
      findProgram(below, programs, '/') === undefined
    )
  const folder = folders.get(name)
  const isFree = known.isLink(name) || !known.has(name)
  return below === '' && isFree && folder !== undefined && realPath(real) === join(places.project, folder)
}

const isInside = (folders: readonly string[], path: string, project: string): boolean =>
  folders.some((folder) => path.startsWith(`${join(project, folder)}/`))

const Manifest = z.object({ name: z.string() })

/** Folders by the package name in their manifest, where no two claim the same name. */
export function packageFolders(manifests: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const twice = new Set<string>()
  for (const [path, text] of manifests) {
    const folder = posix.dirname(path)
    const name = readName(text)
    if (folder === '.' || name === undefined) continue
    if (found.has(name)) twice.add(name)
    found.set(name, folder)
  }
  for (const name of twice) found.delete(name)
  return found
}

function readName(text: string): string | undefined {
  try {
    return Manifest.safeParse(JSON.parse(text)).data?.name
  } catch {
    return undefined
  }
}
