import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

let written = 0

/**
 * Replaces a file so that a reader, a crash or a power cut sees the old text or the new one, never a part. Both the file and
 * its folder are synced: without the folder the last replacement can be lost.
 */
export async function writeFileAtomic(path: string, text: string | Buffer): Promise<void> {
  const temporary = `${path}.${process.pid}.${++written}.tmp`
  try {
    await withFile(temporary, 'w', async (file) => {
      await file.writeFile(text)
      await file.sync()
    })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await withFile(dirname(path), 'r', (folder) => folder.sync())
}

async function withFile(path: string, flags: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags)
  try {
    await use(file)
  } finally {
    await file.close()
  }
}
