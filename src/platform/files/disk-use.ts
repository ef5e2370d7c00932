import { chmod, lstat, opendir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isErrno } from './files.ts'

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

const runProgram = promisify(execFile)

/**
 * Removes a folder that a program filled, also one that it closed for its own user, or made so deep that Node has no name for what is in
 * it: `rm` walks folder by folder.
 */
export async function removeForeignFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    if (!isErrno(error, 'ENAMETOOLONG')) await openFolders(folder)
    await runProgram('/bin/rm', ['-rf', '--', folder])
  }
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => {})
  const entries = await opendir(folder).catch(() => undefined)
  if (!entries) return
  for await (const entry of entries) if (entry.isDirectory()) await openFolders(join(folder, entry.name))
}
