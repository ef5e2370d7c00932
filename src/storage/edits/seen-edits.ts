import { join } from 'node:path'
import { z } from 'zod'
import { Progress } from '../../contract/progress.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { listFolder, moveFile, readTextIfThere, removeFile } from '../../platform/files/files.ts'
import { keptSeen } from './edit-watch.ts'
import { journalFolder } from '../state/journal.ts'

const Kept = z.object({ source: z.string(), seen: Progress })

const recordedName = /^edit-(\d+)\.json$/
const pathOf = (sprintDir: string, rev: number) => join(journalFolder(sprintDir), `edit-${rev}.json`)
const unrecordedPath = (sprintDir: string) => join(journalFolder(sprintDir), 'edit-unrecorded.json')

/**
 * Stores the author's version before the edit is recorded. They may continue from it without reading Ralph's version, and a run
 * that was killed in between must not apply the edit twice.
 */
export async function keepSeen(sprintDir: string, source: string, seen: Progress): Promise<void> {
  await writeFileAtomic(unrecordedPath(sprintDir), JSON.stringify(z.encode(Kept, { source, seen })))
}

/** The edit is recorded: from now on, the author's version counts as a base. */
export async function countSeen(sprintDir: string, rev: number): Promise<void> {
  await moveFile(unrecordedPath(sprintDir), pathOf(sprintDir, rev))
  const old = (await revsIn(sprintDir)).slice(0, -keptSeen)
  for (const one of old) await removeFile(pathOf(sprintDir, one))
}

/** Stored versions by the rev that their authors had read. `source`: the last recorded edit; an unrecorded version is discarded. */
export async function readSeen(sprintDir: string, source: string | undefined): Promise<Map<number, Progress>> {
  const last = await readKept(unrecordedPath(sprintDir))
  if (last && last.source === source) await countSeen(sprintDir, last.seen.rev)
  await removeFile(unrecordedPath(sprintDir))
  const found = new Map<number, Progress>()
  for (const rev of await revsIn(sprintDir)) {
    const kept = await readKept(pathOf(sprintDir, rev))
    if (kept) found.set(rev, kept.seen)
  }
  return found
}

/** Revs of another plan mean something else. */
export async function forgetSeen(sprintDir: string): Promise<void> {
  for (const rev of await revsIn(sprintDir)) await removeFile(pathOf(sprintDir, rev))
  await removeFile(unrecordedPath(sprintDir))
}

async function revsIn(sprintDir: string): Promise<number[]> {
  const names = await listFolder(journalFolder(sprintDir))
  return names
    .flatMap((name) => recordedName.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
}

async function readKept(path: string): Promise<z.infer<typeof Kept> | undefined> {
  try {
    const decoded = Kept.safeParse(JSON.parse((await readTextIfThere(path)) ?? 'null'))
    return decoded.success ? decoded.data : undefined
  } catch {
    return undefined
  }
}
