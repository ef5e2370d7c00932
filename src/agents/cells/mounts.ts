/** One mount of a cell. */
export type Mount =
  | { readonly kind: 'bind'; readonly path: string; readonly from: string; readonly write: boolean }
  | {
      readonly kind: 'tmpfs'
      readonly path: string
      readonly megabytes: number
      readonly write: boolean
      readonly mode?: string
    }
  | { readonly kind: 'link'; readonly path: string; readonly to: string }
  | { readonly kind: 'proc' | 'dev'; readonly path: string }

/** What a cell shows of a machine, before the order and the walls that follow from it are worked out. */
export type View = {
  /** What no other entry covers: the system's programs, /proc, /dev. */
  readonly system: readonly Mount[]
  /** Bound from the same path outside. */
  readonly writable: readonly string[]
  readonly readable: readonly string[]
  /** Folders that look empty. */
  readonly emptyFolders: readonly string[]
  /** Files and sockets that look like /dev/null. */
  readonly emptyFiles: readonly string[]
}

/**
 * The mounts of a view in their order: short paths before long ones, so that an exception within an exception holds. A folder
 * above a wall is bound onto itself, because a folder that only contains a mount can be renamed, with the mount in it, and
 * another one put in its place. A mount itself cannot: EBUSY.
 */
export function orderMounts(view: View): Mount[] {
  const mounts = dedupe([
    ...view.system,
    ...view.readable.map((path): Mount => ({ kind: 'bind', path, from: path, write: false })),
    ...view.writable.map((path): Mount => ({ kind: 'bind', path, from: path, write: true })),
    ...view.emptyFolders.map((path): Mount => ({ kind: 'tmpfs', path, megabytes: 1, write: false })),
    ...view.emptyFiles.map((path): Mount => ({ kind: 'bind', path, from: '/dev/null', write: false })),
  ])
  const ordered = [...mounts, ...bindParents(mounts)].toSorted(
    (a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : Number(a.path > b.path)),
  )
  const kept = new Map<string, Mount>()
  for (const mount of ordered) if (!isShown(mount, kept)) kept.set(mount.path, mount)
  return [...kept.values()]
}

/** Whether a folder that can be read already shows the same. */
function isShown(mount: Mount, kept: ReadonlyMap<string, Mount>): boolean {
  let folder = parent(mount.path)
  while (folder !== '/' && !kept.has(folder)) folder = parent(folder)
  const around = kept.get(folder)
  return isPlain(mount) && around !== undefined && isPlain(around)
}

const isPlain = (mount: Mount): boolean => mount.kind === 'bind' && !mount.write && mount.from === mount.path

/** The last entry for a path counts. */
const dedupe = (mounts: readonly Mount[]): Mount[] => [...new Map(mounts.map((mount) => [mount.path, mount])).values()]

function bindParents(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]))
  const added = new Map<string, Mount>()
  for (const { path } of mounts) {
    const between: Mount[] = []
    for (let folder = parent(path); folder !== '/'; folder = parent(folder)) {
      const around = byPath.get(folder)
      if (around === undefined) {
        between.push({ kind: 'bind', path: folder, from: folder, write: true })
        continue
      }
      // Elsewhere nothing can be renamed, or only what exists in the cell alone.
      const isShared = around.kind === 'bind' && around.write && around.from === around.path
      if (isShared) for (const mount of between) added.set(mount.path, mount)
      break
    }
  }
  return [...added.values()]
}

const parent = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

const depth = (path: string): number => (path === '/' ? 0 : path.split('/').length)
