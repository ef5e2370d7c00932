import { link, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileSignature, isErrno } from './files.ts'
import { nativeFiles } from './native-files.ts'

let written = 0

/** Names of files that a writer which was killed has left behind. */
export const leftoverPattern = /\.\d+\.\d+\.tmp$/

/**
 * Replaces a file so that a reader, a crash or a power cut sees the old text or the new one, never a part. Both the file and
 * its folder are synced: without the folder the last replacement can be lost.
 */
export async function writeFileAtomic(path: string, text: string | Buffer): Promise<void> {
  await withDraft(path, text, (draft) => rename(draft, path))
  await syncFolder(dirname(path))
}

export type Replaced = 'touched' | { readonly signature: string | undefined }

/**
 * The same, but only if the file is still the one with this signature, or is still not there. Somebody else's version stays in
 * place, also one that comes at the last moment: the new file and the old one change places, and back if it was not the old one.
 */
export async function replaceUntouched(path: string, text: string, known: string | undefined): Promise<Replaced> {
  const replaced = await withDraft(path, text, async (draft): Promise<Replaced> => {
    const signature = fileSignature(draft)
    const done = known === undefined ? await putWhereNothingIs(draft, path) : await exchange(draft, path, known)
    return done ? { signature } : 'touched'
  })
  await syncFolder(dirname(path))
  return replaced
}

async function putWhereNothingIs(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  }
}

async function exchange(draft: string, path: string, known: string): Promise<boolean> {
  if (fileSignature(path) !== known) return false
  try {
    await nativeFiles().swap(draft, path)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    // A file system that cannot exchange: the moment between the look and the rename stays open.
    await rename(draft, path)
    return true
  }
  if (fileSignature(draft) === known) return true
  await nativeFiles().swap(draft, path)
  return false
}

/** A whole, synced file beside the one that is meant; it is gone afterwards, whatever happens. */
async function withDraft<T>(path: string, text: string | Buffer, use: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${path}.${process.pid}.${++written}.tmp`
  try {
    await withFile(draft, 'w', async (file) => {
      await file.writeFile(text)
      await file.sync()
    })
    return await use(draft)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Deletes a file so that it does not come back after a power cut. */
export async function removeForGood(path: string): Promise<void> {
  await rm(path, { force: true })
  await syncFolder(dirname(path))
}

/** So that the names in it are there after a power cut. */
export const syncFolder = (path: string): Promise<void> => withFile(path, 'r', (folder) => folder.sync())

async function withFile(path: string, flags: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags)
  try {
    await use(file)
  } finally {
    await file.close()
  }
}
