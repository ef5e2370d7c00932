import { join } from 'node:path'
import { fileSignature, listFolder, readBytes } from '../platform/files/files.ts'
import { recordKey } from '../platform/files/state-folder.ts'
import { readSegment, type JournalRecord } from '../storage/state/journal-record.ts'
import { journalFolder } from '../storage/state/journal.ts'

const segmentPattern = /^\d{8}\.log$/

/**
 * Reads the journal of a sprint that another process may be writing, from its first record or from the last snapshots
 * on.
 */
export function createJournalReader(sprintDir: string, from: 'first' | 'last') {
  let seen = 0
  let segment: string | undefined
  let signature: string | undefined

  /** Returns the records since the last read. Reads nothing if the files have not changed. */
  const look = async (): Promise<readonly JournalRecord[]> => {
    const folder = journalFolder(sprintDir)
    const names = (await listFolder(folder)).filter((name) => segmentPattern.test(name)).toSorted()
    const last = names.at(-1)
    if (last === undefined) return []
    const found = `${last} ${fileSignature(join(folder, last))}`
    if (found === signature) return []
    // A power loss may have dropped the snapshot of the newest segment; then the segment before it is used.
    const start = segment ?? (from === 'first' ? undefined : names.at(-2)) ?? names[0] ?? last
    const fresh: JournalRecord[] = []
    for (const name of names.filter((other) => other >= start)) {
      const { records } = readSegment(await readBytes(join(folder, name)), recordKey(sprintDir))
      fresh.push(...records.filter(({ seq }) => seq > (fresh.at(-1)?.seq ?? seen)))
    }
    signature = found
    segment = last
    seen = fresh.at(-1)?.seq ?? seen
    return fresh
  }
  return { look }
}
