import { createHash } from 'node:crypto'
import type { Edit } from '../contract/edit.ts'
import type { Progress } from '../contract/progress.ts'
import { redactDeep, type Redact } from '../contract/redact.ts'
import { fileSignature, readTextIfThere, writeNewFile } from '../platform/files.ts'
import type { Recovered } from './journal.ts'
import { readOutsideEdit } from './outside-edit.ts'
import { formatProgress } from './progress-file.ts'

/** How long an edit may be half-written before it counts as unreadable. */
const patienceMs = 2000
/** Edits are compared with what their author had read, if that is not too long ago. */
const keptBases = 100
/** Copies of what was refused; somebody who writes nonsense all day must not fill the disk. */
const keptRefused = 50

export type Edited = { readonly edits: readonly Edit[]; readonly refused: readonly string[] }

/** `source`: hash of the text that was read; `seen`: what its author's next edit has to be compared with. */
export type FoundEdit = Edited & { readonly source: string; readonly seen?: Progress }

/** Notices when somebody else writes a file that we write, and what they have changed. */
export interface EditWatch {
  /** Nobody has touched it, their edit is told, or it is half-written and has to be waited for, unless it is the last look. */
  readonly look: (which: 'now' | 'last') => Promise<'untouched' | FoundEdit | 'unfinished'>
  /** The file as it was last seen or written by us. */
  readonly signature: () => string | undefined
  /** What we have just written ourselves. */
  readonly wrote: (progress: Progress, signature: string | undefined) => void
}

/** Without `start`, whatever the file holds at first is known. What an agent writes into it is kept without its secrets. */
export function watchEdits(
  file: string,
  start: Pick<Recovered, 'bases' | 'edit'> | undefined,
  redact: Redact,
): EditWatch {
  const bases = new Map(start?.bases)
  let known = start ? undefined : fileSignature(file)
  let unreadableSince: number | undefined
  let refusals = 0

  const refuse = async (reason: string, text: string): Promise<Edited> => {
    if (++refusals > keptRefused) return { edits: [], refused: [`${reason}; what was written is not kept this time`] }
    const aside = `${file}.refused-${Date.now()}-${refusals}`
    await writeNewFile(aside, redact(text))
    return { edits: [], refused: [`${reason}; what was written is kept in ${aside}`] }
  }
  return {
    async look(which) {
      const signature = fileSignature(file)
      if (signature === undefined || signature === known) return 'untouched'
      const text = (await readTextIfThere(file)) ?? ''
      const source = hash(text)
      if ((known === undefined && source === start?.edit) || isOurs(text, bases)) {
        known = signature
        return 'untouched'
      }
      const edit = readOutsideEdit(text, (rev) => bases.get(rev))
      if (edit.kind === 'unreadable') {
        unreadableSince ??= performance.now()
        if (which === 'now' && performance.now() - unreadableSince < patienceMs) return 'unfinished'
      }
      known = signature
      unreadableSince = undefined
      if (edit.kind === 'unreadable')
        return { ...(await refuse(`it cannot be read (${redact(edit.reason)})`, text)), source }
      if (edit.kind === 'baseless') return { ...(await refuse(edit.reason, text)), source }
      bases.set(edit.rev, edit.seen)
      const { edits, refused, seen } = redactDeep(edit, redact)
      return edits.length + refused.length > 0 ? { edits, refused, source, seen } : 'untouched'
    },
    signature: () => known,
    wrote(progress, signature) {
      known = signature
      bases.set(progress.rev, progress)
      const [oldest] = bases.keys()
      if (bases.size > keptBases && oldest !== undefined) bases.delete(oldest)
    },
  }
}

/** To write what we would have written takes a tenth of the time of reading it. */
function isOurs(text: string, bases: ReadonlyMap<number, Progress>): boolean {
  const base = bases.get(Number(/^rev: (\d+)$/m.exec(text)?.[1]))
  return base !== undefined && formatProgress(base) === text
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
