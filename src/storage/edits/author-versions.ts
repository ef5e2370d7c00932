import { join } from 'node:path'
import { z } from 'zod'
import { Progress } from '../../contract/progress.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { listFolder, moveFile, readTextIfExists, removeFile } from '../../platform/files/files.ts'
import { maxAuthorVersions } from './edit-watch.ts'
import { journalFolder } from '../state/journal.ts'

const StoredVersion = z.object({ source: z.string(), seen: Progress })

const recordedName = /^edit-(\d+)\.json$/
const versionPath = (sprintDir: string, rev: number) => join(journalFolder(sprintDir), `edit-${rev}.json`)
const unrecordedPath = (sprintDir: string) => join(journalFolder(sprintDir), 'edit-unrecorded.json')

/**
 * Stores the author's version before the edit is recorded. They may continue from it without reading Ralph's version, and a run
 * that was killed in between must not apply the edit twice.
 */
export async function storeAuthorVersion(sprintDir: string, source: string, seen: Progress): Promise<void> {
  await writeFileAtomic(unrecordedPath(sprintDir), JSON.stringify(z.encode(StoredVersion, { source, seen })))
}

/** The edit is recorded: from now on, the author's version counts as a base. */
export async function confirmAuthorVersion(sprintDir: string, rev: number): Promise<void> {
  await moveFile(unrecordedPath(sprintDir), versionPath(sprintDir, rev))
  const old = (await listVersionRevs(sprintDir)).slice(0, -maxAuthorVersions)
  for (const one of old) await removeFile(versionPath(sprintDir, one))
}

/** Stored versions by the rev that their authors had read. `source`: the last recorded edit; an unrecorded version is discarded. */
export async function readAuthorVersions(
  sprintDir: string,
  source: string | undefined,
): Promise<Map<number, Progress>> {
  const last = await readStoredVersion(unrecordedPath(sprintDir))
  if (last && last.source === source) await confirmAuthorVersion(sprintDir, last.seen.rev)
  await removeFile(unrecordedPath(sprintDir))
  const found = new Map<number, Progress>()
  for (const rev of await listVersionRevs(sprintDir)) {
    const stored = await readStoredVersion(versionPath(sprintDir, rev))
    if (stored) found.set(rev, stored.seen)
  }
  return found
}

/** Revs of another plan mean something else. */
export async function forgetAuthorVersions(sprintDir: string): Promise<void> {
  for (const rev of await listVersionRevs(sprintDir)) await removeFile(versionPath(sprintDir, rev))
  await removeFile(unrecordedPath(sprintDir))
}

async function listVersionRevs(sprintDir: string): Promise<number[]> {
  const names = await listFolder(journalFolder(sprintDir))
  return names
    .flatMap((name) => recordedName.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
}

async function readStoredVersion(path: string): Promise<z.infer<typeof StoredVersion> | undefined> {
  try {
    const decoded = StoredVersion.safeParse(JSON.parse((await readTextIfExists(path)) ?? 'null'))
    return decoded.success ? decoded.data : undefined
  } catch {
    return undefined
  }
}
