import type { Edit } from '../contract/edit.ts'
import type { Progress } from '../contract/progress.ts'
import { copyFileTo, fileSignature, readTextIfThere } from '../platform/files.ts'
import { readOutsideEdit } from './outside-edit.ts'

/** How long an edit may be half-written before it counts as unreadable. */
const patienceMs = 2000
/** Edits are compared with what their author had read, if that is not too long ago. */
const keptBases = 100

export type Edited = { readonly edits: readonly Edit[]; readonly refused: readonly string[] }

/** Notices when somebody else writes a file that we write, and what they have changed. */
export interface EditWatch {
  /** Nobody has touched it, their edit is told, or it is half-written and has to be waited for. */
  readonly look: () => Promise<'untouched' | Edited | 'unfinished'>
  /** What we have just written ourselves. */
  readonly wrote: (progress: Progress) => void
}

export function watchEdits(file: string): EditWatch {
  const bases = new Map<number, Progress>()
  let known: string | undefined
  let unreadableSince: number | undefined

  const refuse = async (reason: string): Promise<Edited> => {
    const aside = `${file}.refused-${Date.now()}`
    await copyFileTo(file, aside)
    return { edits: [], refused: [`it cannot be read (${reason}); what was written is kept in ${aside}`] }
  }
  return {
    async look() {
      const signature = fileSignature(file)
      if (known === undefined || signature === undefined || signature === known) return 'untouched'
      const edit = readOutsideEdit((await readTextIfThere(file)) ?? '', (rev) => bases.get(rev))
      if (edit.kind === 'unreadable') {
        unreadableSince ??= performance.now()
        if (performance.now() - unreadableSince < patienceMs) return 'unfinished'
      }
      known = signature
      unreadableSince = undefined
      if (edit.kind === 'unreadable') return refuse(edit.reason)
      if (edit.seen) bases.set(edit.rev, edit.seen)
      return edit
    },
    wrote(progress) {
      known = fileSignature(file)
      bases.set(progress.rev, progress)
      const [oldest] = bases.keys()
      if (bases.size > keptBases && oldest !== undefined) bases.delete(oldest)
    },
  }
}
