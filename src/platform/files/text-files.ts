import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file in place, with the folders it needs: mode, links and watchers of a file that is there stay as they are. */
export async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

export const appendText = (path: string, text: string): Promise<void> => appendFile(path, text)
