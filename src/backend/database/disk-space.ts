import { RalphError } from '../../contract/errors.ts'
import { diskSpace } from '../../platform/files/files.ts'

/** Postgres crashes when it cannot write its log. The next two log segments have 16 MB each. */
const minFreeBytes = 64_000_000
const checkIntervalMs = 1000

type ReadDiskSpace = (path: string) => Promise<{ readonly freeBytes: number }>

/** Refuses writes before the disk is full. Checks at most once a second, so it recovers by itself. */
export function createDiskSpaceGuard(folder: string, look: ReadDiskSpace = diskSpace): () => Promise<void> {
  let lookedAt = -Infinity
  let free = Infinity
  return async () => {
    if (performance.now() - lookedAt > checkIntervalMs) {
      lookedAt = performance.now()
      free = (await look(folder)).freeBytes
    }
    if (free >= minFreeBytes) return
    throw new RalphError('DISK_FULL', `only ${Math.round(free / 1e6)} MB of disk space are left for the database`, {
      place: { file: folder },
      hint: 'free disk space for the data folder; the backend recovers by itself',
    })
  }
}
