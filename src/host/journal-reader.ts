import { join } from 'node:path'
import { z } from 'zod'
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
  const readNew = async (): Promise<readonly JournalRecord[]> => {
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
  return { readNew }
}

/** Iterations `from` up to, but not including, `before`. */
export type IterationRange = { readonly from: number; readonly before: number }

/**
 * The records that tell what happened in a range of iterations, from a snapshot on. Reads the segments before and after it only
 * to see where they begin. A snapshot knows the last 100 iterations, so those that ended before it are known too.
 */
export async function readIterationRecords(
  sprintDir: string,
  { from, before }: IterationRange,
): Promise<JournalRecord[]> {
  const folder = journalFolder(sprintDir)
  const names = (await listFolder(folder)).filter((name) => segmentPattern.test(name)).toSorted()
  const chosen: string[] = []
  for (const name of names.toReversed()) {
    const firstIteration = readFirstIteration(await readBytes(join(folder, name)))
    if (firstIteration !== undefined && firstIteration >= before + liveMargin) continue
    chosen.unshift(name)
    if (firstIteration !== undefined && firstIteration < from) break
  }
  const records: JournalRecord[] = []
  for (const name of chosen) {
    const found = readSegment(await readBytes(join(folder, name)), recordKey(sprintDir)).records
    records.push(...found.filter(({ seq }) => seq > (records.at(-1)?.seq ?? 0)))
  }
  return records
}

/** An iteration may end after many later ones have begun. */
const liveMargin = 50

const FirstRecord = z.looseObject({ data: z.looseObject({ stats: z.looseObject({ 'current-iteration': z.int() }) }) })

/** The iteration in which a segment begins; undefined if it does not begin with a readable snapshot. */
function readFirstIteration(bytes: Buffer): number | undefined {
  try {
    const line = bytes.toString('utf8', 0, Math.max(0, bytes.indexOf(10)))
    return FirstRecord.parse(JSON.parse(line.slice(9))).data.stats['current-iteration']
  } catch {
    return undefined
  }
}
