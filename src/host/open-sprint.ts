import { RalphError } from '../contract/errors.ts'
import type { Progress } from '../contract/progress.ts'
import type { Redact } from '../contract/secrets/redact.ts'
import { advance } from '../loop/advance.ts'
import { recompile } from '../loop/recompile.ts'
import { openSprintStore, type OpenedStore, type SprintStore } from '../storage/sprint/sprint-store.ts'
import type { ExternalChanges } from '../storage/edits/edit-watch.ts'
import { exists } from '../platform/files/files.ts'
import { journalFolder } from '../storage/state/journal.ts'
import { readProgressFile } from '../storage/state/progress-file.ts'
import { progressPath, writeGitignore } from '../storage/state/sprint-folder.ts'
import { applyFactToProgress } from './apply-fact.ts'

export type SprintToOpen = {
  readonly sprintDir: string
  /** The compiled SPRINT.yaml; undefined if only the state of an earlier compilation is left. */
  readonly compiled: Progress | undefined
  readonly now: () => number
  /** For what an agent writes into PROGRESS.yaml; by default, redacts keys with a known format. */
  readonly redact?: Redact
  /** Asked when the sprint's folder was moved here from another path. */
  readonly confirmMove?: ((from: string) => Promise<boolean>) | undefined
  /** Throws if changes since the start must not take effect: an agent may have made them. */
  readonly acceptChanges?: ((changes: PlanChanges) => Promise<void>) | undefined
}

/** One sentence per change, and the state without and with them. */
export type PlanChanges = { readonly changes: readonly string[]; readonly before: Progress; readonly after: Progress }

export type OpenedSprint = Pick<OpenedStore, 'imported'> & {
  /** What was edited in PROGRESS.yaml since the last run: it counts before the next prompt. */
  readonly edited: ExternalChanges
  readonly store: SprintStore
  /** The state after the changes. */
  readonly progress: Progress
  /** What SPRINT.yaml has changed since the last run. */
  readonly changes: readonly string[]
  /** Bytes of a record that an earlier run did not finish. */
  readonly tornBytes: number
}

/**
 * Opens a sprint for this process: locks it, reads its journal, and records a changed SPRINT.yaml as a fact. Throws if
 * another process runs it.
 */
export async function openSprint({ compiled, redact, acceptChanges, ...options }: SprintToOpen): Promise<OpenedSprint> {
  // Without a journal PROGRESS.yaml is all there is: if it is unreadable, refuse before anything is written.
  if (!exists(journalFolder(options.sprintDir))) await readProgressFile(options.sprintDir)
  const adopt = compiled && ((imported: Progress) => adoptPlan(imported, compiled, options.now()))
  const opened = await openSprintStore(
    { ...options, adopt, ...(redact && { redact }), fold: applyFactToProgress },
    compiled,
  )
  if (!opened) throw notCompiledError(options.sprintDir)
  try {
    await writeGitignore(options.sprintDir)
    const edited = await opened.store.settleEdits()
    const progress = opened.store.current()
    const unchanged = { ...opened, edited, progress, changes: [] }
    if (!compiled || progress.status === 'not-started') return unchanged
    const fact = { type: 'recompiled' as const, at: options.now(), compiled }
    const { progress: next, changes = [] } = advance(progress, fact)
    if (changes.length === 0) return unchanged
    await acceptChanges?.({ changes, before: progress, after: next })
    await opened.store.save(next, fact)
    return { ...unchanged, progress: next, changes }
  } catch (error) {
    await opened.store.close()
    throw error
  }
}

/** Another program ran the sprint, so there is no earlier plan that an agent could have changed. */
function adoptPlan(imported: Progress, compiled: Progress, at: number): Progress {
  if (imported.mode !== compiled.mode) return imported
  const { progress } = recompile(imported, compiled, at)
  return compiled.protocol === undefined ? progress : { ...progress, protocol: compiled.protocol }
}

const notCompiledError = (sprintDir: string): RalphError =>
  new RalphError('PROGRESS_NOT_FOUND', 'the sprint has no state', {
    place: { file: progressPath(sprintDir) },
    hint: 'create it with: ralph compile <sprint>',
  })
