import { createHash } from 'node:crypto'
import type { Edit } from '../../contract/edit.ts'
import type { Progress } from '../../contract/progress.ts'
import { redactDeep, type Redact } from '../../contract/secrets/redact.ts'
import { fileSignature, readPlainText, writeNewFile } from '../../platform/files/files.ts'
import type { RecoveredJournal } from '../state/journal.ts'
import { readExternalEdit, type ExternalEdit } from './external-edit.ts'
import { formatProgress, parseRev } from '../state/progress-text.ts'

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

/** What is known about the file at the start of a run. Without `bases`, its current content counts as known. */
export type EditBaseline = Partial<Pick<RecoveredJournal, 'bases' | 'edit'>> & {
  /** What authors of earlier edits had written, by the rev that they had read. */
  readonly seen?: ReadonlyMap<number, Progress>
  /** Reads an older revision from the journal. */
  readonly older?: (rev: number) => Promise<Progress | undefined>
}

type EditCheck = 'untouched' | DetectedEdit | 'unfinished'

/** Detects edits by others in a file that Ralph writes. Redacts what an agent writes into it before storing it. */
export class EditWatch {
  readonly #file: string
  readonly #before: EditBaseline
  readonly #redact: Redact
  readonly #bases: Map<number, Progress>
  readonly #authorVersions: Map<number, Progress>
  #known: string | undefined
  #unreadableSince: number | undefined
  #refusals = 0

  constructor(file: string, before: EditBaseline, redact: Redact) {
    this.#file = file
    this.#before = before
    this.#redact = redact
    this.#bases = new Map(before.bases)
    this.#authorVersions = new Map(before.seen)
    this.#known = before.bases ? undefined : fileSignature(file)
  }

  /** Returns `untouched`, the edit, or `unfinished` for a half-written file, unless it is the last look. */
  async check(which: 'now' | 'last'): Promise<EditCheck> {
    const signature = fileSignature(this.#file)
    if (signature === undefined || signature === this.#known) return 'untouched'
    const text = readPlainText(this.#file) ?? ''
    const source = hashText(text)
    if ((this.#known === undefined && source === this.#before.edit) || (await this.#isOurs(text))) {
      this.#known = signature
      return 'untouched'
    }
    const edit = await this.#read(text)
    if (edit.kind === 'unreadable' && which === 'now' && this.#mayBeUnfinished()) return 'unfinished'
    this.#known = signature
    this.#unreadableSince = undefined
    if (edit.kind === 'unreadable')
      return { ...(await this.#refuse(`it cannot be read (${this.#redact(edit.reason)})`, text)), source }
    if (edit.kind === 'baseless') return { ...(await this.#refuse(edit.reason, text)), source }
    keepLast(this.#authorVersions.set(edit.rev, edit.seen), maxAuthorVersions)
    const redacted = redactDeep(edit, this.#redact)
    return redacted.edits.length + redacted.refused.length > 0 ? { ...redacted, source } : 'untouched'
  }

  /** Signature of the file when Ralph last read or wrote it. */
  signature(): string | undefined {
    return this.#known
  }

  /** Call after writing the file. */
  wrote(progress: Progress, signature: string | undefined): void {
    this.#known = signature
    keepLast(this.#bases.set(progress.rev, progress), maxBases)
  }

  /** Formatting the base and comparing takes a tenth of the time of parsing the text. */
  async #isOurs(text: string): Promise<boolean> {
    const rev = parseRev(text)
    // A run that was killed just after starting a new journal segment has shown a state that only the previous segment contains.
    const isFirst = this.#known === undefined && !this.#bases.has(rev) && !Number.isNaN(rev)
    const older = isFirst ? await this.#before.older?.(rev) : undefined
    if (older) this.#bases.set(rev, older)
    const base = this.#bases.get(rev)
    return base !== undefined && formatProgress(base) === text
  }

  async #read(text: string): Promise<ExternalEdit> {
    const edit = readExternalEdit(text, (rev) => this.#authorVersions.get(rev) ?? this.#bases.get(rev))
    const base = edit.kind === 'baseless' ? await this.#before.older?.(edit.rev) : undefined
    return base ? readExternalEdit(text, () => base) : edit
  }

  #mayBeUnfinished(): boolean {
    this.#unreadableSince ??= performance.now()
    return performance.now() - this.#unreadableSince < unfinishedTimeoutMs
  }

  async #refuse(reason: string, text: string): Promise<ExternalChanges> {
    if (++this.#refusals > maxRefusedCopies) return { edits: [], refused: [`${reason}; this text is not kept`] }
    const copyPath = `${this.#file}.refused-${Date.now()}-${this.#refusals}`
    await writeNewFile(copyPath, this.#redact(text))
    return { edits: [], refused: [`${reason}; a copy is in ${copyPath}`] }
  }
}

function keepLast<T>(map: Map<number, T>, most: number): void {
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex')
