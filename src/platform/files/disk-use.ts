import { chmod, lstat, opendir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** The bytes that folders and all in them take on the disk. What vanishes during the walk, or cannot be read, counts nothing. */
export async function measureDiskUse(folders: readonly string[], signal: AbortSignal): Promise<number> {
  let bytes = 0
  const queue = folders.filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)))
  for (let folder = queue.pop(); folder !== undefined && !signal.aborted; folder = queue.pop()) {
    const entries = await opendir(folder).catch(() => undefined)
    if (!entries) continue
    for await (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) queue.push(path)
      const found = entry.isFile() ? await lstat(path).catch(() => undefined) : undefined
      bytes += (found?.blocks ?? 0) * 512
    }
  }
  return bytes
}

/** Removes a folder that a program filled, also one that it closed for its own user. */
export async function removeForeignFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await remove()
  } catch {
    await openFolders(folder)
    await remove()
  }
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => {})
  const entries = await opendir(folder).catch(() => undefined)
  if (!entries) return
  for await (const entry of entries) if (entry.isDirectory()) await openFolders(join(folder, entry.name))
}
