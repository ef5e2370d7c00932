import { createHash } from 'node:crypto'

/**
 * `outdated`: written by another version of Ralph and unchanged since. `edited`: written by Ralph, then changed by the
 * user. `foreign`: never written by Ralph.
 */
export type ManagedState = 'missing' | 'current' | 'outdated' | 'edited' | 'foreign'

const marker = /\n<!-- Written by "ralph plugin install"; sha256 ([0-9a-f]{16})\. .* -->\n/

/** Appends a marker with a digest, by which a later call recognises its own unchanged file. */
export const markManaged = (text: string): string =>
  `${text}\n<!-- Written by "ralph plugin install"; sha256 ${digest(text)}. "ralph plugin remove" deletes it, unless you edit it. -->\n`

export function readManagedState(onDisk: string | undefined, bundled: string): ManagedState {
  if (onDisk === undefined) return 'missing'
  const found = marker.exec(onDisk)
  if (!found) return 'foreign'
  const [whole, written] = found
  const isAtEnd = found.index + whole.length === onDisk.length
  if (!isAtEnd || digest(onDisk.slice(0, found.index)) !== written) return 'edited'
  return onDisk === markManaged(bundled) ? 'current' : 'outdated'
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
