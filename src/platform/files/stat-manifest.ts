import { lstatSync, readdirSync, type BigIntStats, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'

/** Path to what the file system knows of it. */
export type StatManifest = ReadonlyMap<string, string>

/** Entries to read before other work gets a turn: 31,600 of them take 0.3 s. */
const perTurn = 2000

/**
 * What a change of any file below a folder would move: inode, size, times and mode. The time of change (ctime) cannot be set by
 * a program without the clock. Of a folder only inode and mode count, since its files are in the list themselves. Links are not
 * followed. Names in `except` are left out with all that is below them.
 */
export async function readStatManifest(folder: string, except: ReadonlySet<string>): Promise<StatManifest> {
  const found = new Map<string, string>()
  const queue = ['']
  for (let next = queue.pop(), read = 0; next !== undefined; next = queue.pop()) {
    const stats = lstatSync(join(folder, next), { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) continue
    found.set(next, signature(stats))
    if (++read % perTurn === 0) await setImmediate()
    if (!stats.isDirectory()) continue
    for (const entry of entries(join(folder, next)))
      if (!except.has(entry.name)) queue.push(next === '' ? entry.name : `${next}/${entry.name}`)
  }
  return found
}

function entries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function signature(stats: BigIntStats): string {
  const { ino, size, mtimeNs, ctimeNs, mode } = stats
  return stats.isDirectory() ? `${ino} ${mode}` : `${ino} ${size} ${mtimeNs} ${ctimeNs} ${mode}`
}
