import { RalphError } from '../../contract/errors.ts'
import { diskSpace } from '../../platform/files/files.ts'

/** Postgres crashes when it cannot write its log. The next two log segments have 16 MB each. */
const leastBytes = 64_000_000
const lookMs = 1000

type Look = (path: string) => Promise<{ readonly freeBytes: number }>

/** Refuses writes before the disk is full. Checks at most once a second, so it recovers by itself. */
export function roomIn(folder: string, look: Look = diskSpace): () => Promise<void> {
  let lookedAt = -Infinity
  let free = Infinity
  return async () => {
    if (performance.now() - lookedAt > lookMs) {
      lookedAt = performance.now()
      free = (await look(folder)).freeBytes
    }
    if (free >= leastBytes) return
    throw new RalphError('DISK_FULL', `only ${Math.round(free / 1e6)} MB of disk space are left for the database`, {
      place: { file: folder },
      hint: 'free disk space for the data folder; the backend recovers by itself',
    })
  }
}
