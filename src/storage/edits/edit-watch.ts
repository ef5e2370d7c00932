import { createHash } from 'node:crypto'
import type { Edit } from '../../contract/edit.ts'
import type { Progress } from '../../contract/progress.ts'
import { redactDeep, type Redact } from '../../contract/redact.ts'
import { fileSignature, readTextIfExists, writeNewFile } from '../../platform/files/files.ts'
import type { RecoveredJournal } from '../state/journal.ts'
import { readExternalEdit, type ExternalEdit } from './external-edit.ts'
import { formatProgress, parseRev } from '../state/progress-file.ts'

/** How long a file may be half-written before the edit counts as unreadable. */
const unfinishedTimeoutMs = 2000
/** Edits are compared with the revision that their author had read: usually one of the last few, else the journal has it. */
const maxBases = 20
/** An author more than this many edits behind is treated as out of date. */
export const maxAuthorVersions = 20
/** Copies of refused edits to keep; an author who writes invalid text all day must not fill the disk. */
const maxRefusedCopies = 50

export type ExternalChanges = { readonly edits: readonly Edit[]; readonly refused: readonly string[] }

/** `source`: hash of the text; `seen`: the base for the next edit of the same author. */
export type DetectedEdit = ExternalChanges & { readonly source: string; readonly seen?: Progress }

/** Detects edits by others in a file that Ralph writes. */
export interface EditWatch {
  /** Returns `untouched`, the edit, or `unfinished` for a half-written file, unless it is the last look. */
  readonly check: (which: 'now' | 'last') => Promise<'untouched' | DetectedEdit | 'unfinished'>
  /** Signature of the file when Ralph last read or wrote it. */
  readonly signature: () => string | undefined
  /** Call after writing the file. */
  readonly wrote: (progress: Progress, signature: string | undefined) => void
}

/** What is known about the file at the start of a run. Without `bases`, its current content counts as known. */
export type EditBaseline = Partial<Pick<RecoveredJournal, 'bases' | 'edit'>> & {
  /** What authors of earlier edits had written, by the rev that they had read. */
  readonly seen?: ReadonlyMap<number, Progress>
  /** Reads an older revision from the journal. */
  readonly older?: (rev: number) => Promise<Progress | undefined>
}

/** Redacts what an agent writes into the file before storing it. */
export function watchEdits(file: string, before: EditBaseline, redact: Redact): EditWatch {
  const bases = new Map(before.bases)
  const authorVersions = new Map(before.seen)
  let known = before.bases ? undefined : fileSignature(file)
  let unreadableSince: number | undefined
  let refusals = 0

  const refuse = async (reason: string, text: string): Promise<ExternalChanges> => {
    if (++refusals > maxRefusedCopies) return { edits: [], refused: [`${reason}; this text is not kept`] }
    const copyPath = `${file}.refused-${Date.now()}-${refusals}`
    await writeNewFile(copyPath, redact(text))
    return { edits: [], refused: [`${reason}; a copy is in ${copyPath}`] }
  }
  const read = async (text: string): Promise<ExternalEdit> => {
    const edit = readExternalEdit(text, (rev) => authorVersions.get(rev) ?? bases.get(rev))
    const base = edit.kind === 'baseless' ? await before.older?.(edit.rev) : undefined
    return base ? readExternalEdit(text, () => base) : edit
  }
  /** Formatting the base and comparing takes a tenth of the time of parsing the text. */
  const isOurs = async (text: string): Promise<boolean> => {
    const rev = parseRev(text)
    // A run that was killed just after starting a new journal segment has shown a state that only the previous segment contains.
    const isFirst = known === undefined && !bases.has(rev) && !Number.isNaN(rev)
    const older = isFirst ? await before.older?.(rev) : undefined
    if (older) bases.set(rev, older)
    const base = bases.get(rev)
    return base !== undefined && formatProgress(base) === text
  }
  return {
    async check(which) {
      const signature = fileSignature(file)
      if (signature === undefined || signature === known) return 'untouched'
      const text = (await readTextIfExists(file)) ?? ''
      const source = hashText(text)
      if ((known === undefined && source === before.edit) || (await isOurs(text))) {
        known = signature
        return 'untouched'
      }
      const edit = await read(text)
      if (edit.kind === 'unreadable') {
        unreadableSince ??= performance.now()
        if (which === 'now' && performance.now() - unreadableSince < unfinishedTimeoutMs) return 'unfinished'
      }
      known = signature
      unreadableSince = undefined
      if (edit.kind === 'unreadable')
        return { ...(await refuse(`it cannot be read (${redact(edit.reason)})`, text)), source }
      if (edit.kind === 'baseless') return { ...(await refuse(edit.reason, text)), source }
      keepLast(authorVersions.set(edit.rev, edit.seen), maxAuthorVersions)
      const redacted = redactDeep(edit, redact)
      return redacted.edits.length + redacted.refused.length > 0 ? { ...redacted, source } : 'untouched'
    },
    signature: () => known,
    wrote(progress, signature) {
      known = signature
      keepLast(bases.set(progress.rev, progress), maxBases)
    },
  }
}

function keepLast<T>(map: Map<number, T>, most: number): void {
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex')
