import { join } from 'node:path'
import { z } from 'zod'
import { Progress } from '../contract/progress.ts'
import { writeFileAtomic } from '../platform/atomic-file.ts'
import { listFolder, readTextIfThere, removeFile } from '../platform/files.ts'
import { journalFolder } from './journal.ts'

const fileOf = (sprintDir: string, source: string): string =>
  join(journalFolder(sprintDir), `edit-${source.slice(0, 16)}.json`)

/**
 * Keeps what the author of an edit had written, before it is recorded. They may go on from there without having read ours, and
 * a run that was killed in between must not take over again what it has taken over already.
 */
export async function keepSeen(sprintDir: string, source: string, seen: Progress): Promise<void> {
  await writeFileAtomic(fileOf(sprintDir, source), JSON.stringify(z.encode(Progress, seen)))
}

/** What is known of the edit that was recorded last. */
export async function readSeen(sprintDir: string, source: string | undefined): Promise<Progress | undefined> {
  if (source === undefined) return undefined
  try {
    const decoded = Progress.safeParse(JSON.parse((await readTextIfThere(fileOf(sprintDir, source))) ?? 'null'))
    return decoded.success ? decoded.data : undefined
  } catch {
    return undefined
  }
}

export async function forgetOlder(sprintDir: string, source: string): Promise<void> {
  const folder = journalFolder(sprintDir)
  const names = (await listFolder(folder)).filter((name) => name.startsWith('edit-'))
  const old = names.map((name) => join(folder, name)).filter((path) => path !== fileOf(sprintDir, source))
  for (const path of old) await removeFile(path)
}
