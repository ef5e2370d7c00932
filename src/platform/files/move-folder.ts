import { cp, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from './atomic-file.ts'
import { isErrno } from './files.ts'

/** Moves a folder, also to another disk. The target exists only when it is complete and durable; until then the original stays. */
export async function moveFolder(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (!isErrno(error, 'EXDEV')) throw error
    const draft = `${to}.moving`
    await rm(draft, { recursive: true, force: true })
    await cp(from, draft, { recursive: true, verbatimSymlinks: true })
    await syncTree(draft)
    await rename(draft, to)
    await syncFolder(dirname(to))
    await rm(from, { recursive: true, force: true })
  }
}

async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await syncTree(path)
    else if (entry.isFile()) await syncFile(path)
  }
  await syncFolder(folder)
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
