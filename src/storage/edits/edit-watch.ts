import { createHash } from 'node:crypto'
import type { Edit } from '../../contract/edit.ts'
import type { Progress } from '../../contract/progress.ts'
import { redactDeep, type Redact } from '../../contract/redact.ts'
import { fileSignature, readTextIfThere, writeNewFile } from '../../platform/files/files.ts'
import type { Recovered } from '../state/journal.ts'
import { readOutsideEdit, type OutsideEdit } from './outside-edit.ts'
import { formatProgress, revIn } from '../state/progress-file.ts'

/** How long an edit may be half-written before it counts as unreadable. */
const patienceMs = 2000
/** Edits are compared with what their author had read: mostly one of the last few, else the journal is asked. */
const keptBases = 20
/** Authors who go on for longer than so many edits of others without reading what we have written do not exist. */
export const keptSeen = 20
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

/** What is known of the file at the start of a run. Without `bases`, whatever it holds then is known. */
export type KnownBefore = Partial<Pick<Recovered, 'bases' | 'edit'>> & {
  /** By the rev that they had read: what authors of earlier edits had written. */
  readonly seen?: ReadonlyMap<number, Progress>
  /** What was shown long ago. */
  readonly older?: (rev: number) => Promise<Progress | undefined>
}

/** What an agent writes into the file is kept without its secrets. */
export function watchEdits(file: string, before: KnownBefore, redact: Redact): EditWatch {
  const bases = new Map(before.bases)
  const seen = new Map(before.seen)
  let known = before.bases ? undefined : fileSignature(file)
  let unreadableSince: number | undefined
  let refusals = 0

  const refuse = async (reason: string, text: string): Promise<Edited> => {
    if (++refusals > keptRefused) return { edits: [], refused: [`${reason}; what was written is not kept this time`] }
    const aside = `${file}.refused-${Date.now()}-${refusals}`
    await writeNewFile(aside, redact(text))
    return { edits: [], refused: [`${reason}; what was written is kept in ${aside}`] }
  }
  const read = async (text: string): Promise<OutsideEdit> => {
    const edit = readOutsideEdit(text, (rev) => seen.get(rev) ?? bases.get(rev))
    const base = edit.kind === 'baseless' ? await before.older?.(edit.rev) : undefined
    return base ? readOutsideEdit(text, () => base) : edit
  }
  /** To write what we would have written takes a tenth of the time of reading it. */
  const isOurs = async (text: string): Promise<boolean> => {
    const rev = revIn(text)
    // Who was killed just after a new segment of the journal was begun has shown something that only the one before knows.
    const isFirst = known === undefined && !bases.has(rev) && !Number.isNaN(rev)
    const older = isFirst ? await before.older?.(rev) : undefined
    if (older) bases.set(rev, older)
    const base = bases.get(rev)
    return base !== undefined && formatProgress(base) === text
  }
  return {
    async look(which) {
      const signature = fileSignature(file)
      if (signature === undefined || signature === known) return 'untouched'
      const text = (await readTextIfThere(file)) ?? ''
      const source = hash(text)
      if ((known === undefined && source === before.edit) || (await isOurs(text))) {
        known = signature
        return 'untouched'
      }
      const edit = await read(text)
      if (edit.kind === 'unreadable') {
        unreadableSince ??= performance.now()
        if (which === 'now' && performance.now() - unreadableSince < patienceMs) return 'unfinished'
      }
      known = signature
      unreadableSince = undefined
      if (edit.kind === 'unreadable')
        return { ...(await refuse(`it cannot be read (${redact(edit.reason)})`, text)), source }
      if (edit.kind === 'baseless') return { ...(await refuse(edit.reason, text)), source }
      keepLast(seen.set(edit.rev, edit.seen), keptSeen)
      const told = redactDeep(edit, redact)
      return told.edits.length + told.refused.length > 0 ? { ...told, source } : 'untouched'
    },
    signature: () => known,
    wrote(progress, signature) {
      known = signature
      keepLast(bases.set(progress.rev, progress), keptBases)
    },
  }
}

function keepLast<T>(map: Map<number, T>, most: number): void {
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
