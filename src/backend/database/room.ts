import { RalphError } from '../../contract/errors.ts'
import { diskSpace } from '../../platform/files/files.ts'

/** The next two pieces of its journal have 16 MB each; when there is no room for one, the embedded database is at its end. */
const leastBytes = 64_000_000
const lookMs = 1000

type Look = (path: string) => Promise<{ readonly freeBytes: number }>

/** Refuses in time. It is looked once a second, so it goes on by itself when there is room again. */
export function roomIn(folder: string, look: Look = diskSpace): () => Promise<void> {
  let lookedAt = -Infinity
  let free = Infinity
  return async () => {
    if (performance.now() - lookedAt > lookMs) {
      lookedAt = performance.now()
      free = (await look(folder)).freeBytes
    }
    if (free >= leastBytes) return
    throw new RalphError('DISK_FULL', `there are only ${Math.round(free / 1e6)} MB left for the database`, {
      place: { file: folder },
      hint: 'make room on the disk of the data folder; the backend goes on by itself',
    })
  }
}
