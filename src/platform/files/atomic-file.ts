import { link, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileSignature, isErrno } from './files.ts'
import { nativeFiles } from './native-files.ts'

/** Two writers of one process must not share a draft. */
let draftCount = 0

/** Names of drafts that a killed writer left behind. */
export const leftoverPattern = /\.\d+\.\d+\.tmp$/

/**
 * Replaces a file so that readers, crashes and power cuts see the old text or the new one, never a part. Syncs both the file
 * and its folder: without the folder, the last replacement can be lost.
 */
export async function writeFileAtomic(path: string, text: string | Buffer): Promise<void> {
  await withDraft(path, text, (draft) => rename(draft, path))
  await syncFolder(dirname(path))
}

export type ReplaceResult = 'touched' | { readonly signature: string | undefined }

/**
 * The same, but only if the file still has this signature, or still does not exist. A version written by another process stays in
 * place, even if it arrives at the last moment: the new file and the old one are swapped, and swapped back if the old one differs.
 */
export async function replaceIfUnchanged(
  path: string,
  text: string | Buffer,
  known: string | undefined,
): Promise<ReplaceResult> {
  const replaced = await withDraft(path, text, async (draft): Promise<ReplaceResult> => {
    const signature = fileSignature(draft)
    const done = known === undefined ? await linkIfAbsent(draft, path) : await swapIfUnchanged(draft, path, known)
    return done ? { signature } : 'touched'
  })
  await syncFolder(dirname(path))
  return replaced
}

async function linkIfAbsent(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  }
}

async function swapIfUnchanged(draft: string, path: string, known: string): Promise<boolean> {
  if (fileSignature(path) !== known) return false
  try {
    await nativeFiles().swap(draft, path)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    // The file system cannot swap files: the gap between check and rename remains.
    await rename(draft, path)
    return true
  }
  if (fileSignature(draft) === known) return true
  await nativeFiles().swap(draft, path)
  return false
}

/**
 * Writes a complete, synced draft beside the target, and removes it afterwards. Never through a link: an agent can write to the folder
 * of its sprint, and a link with the name of a draft would lead out of it.
 */
async function withDraft<T>(path: string, text: string | Buffer, use: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${path}.${process.pid}.${++draftCount}.tmp`
  const write = () =>
    withFile(draft, 'wx', async (file) => {
      await file.writeFile(text)
      await file.sync()
    })
  try {
    await write().catch(async (error: unknown) => {
      if (!isErrno(error, 'EEXIST')) throw error
      await rm(draft, { recursive: true, force: true })
      await write()
    })
    return await use(draft)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Deletes a file durably, so that it does not come back after a power cut. */
export async function removeDurably(path: string): Promise<void> {
  await rm(path, { force: true })
  await syncFolder(dirname(path))
}

/** Makes the names in a folder durable. */
export const syncFolder = (path: string): Promise<void> => withFile(path, 'r', (folder) => folder.sync())

async function withFile(path: string, flags: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags)
  try {
    await use(file)
  } finally {
    await file.close()
  }
}
