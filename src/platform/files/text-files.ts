import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file in place and creates its folders: mode, links and watchers of an existing file stay intact. */
export async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

export const appendText = (path: string, text: string): Promise<void> => appendFile(path, text)
