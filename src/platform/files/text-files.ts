import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file in place and creates its folders: mode, links and watchers of an existing file stay intact. */
export async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** A script that can be started. */
export async function writeProgram(path: string, text: string): Promise<void> {
  await writeText(path, text)
  await chmod(path, 0o755)
}

export const appendText = (path: string, text: string): Promise<void> => appendFile(path, text)
