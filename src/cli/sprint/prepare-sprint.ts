import type { Diagnostic } from '../../compiler/parse/diagnostics.ts'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Fact } from '../../loop/fact.ts'
import { recompile } from '../../loop/recompile.ts'
import { copyFileTo, exists, isFile, listFolder, createFolder } from '../../platform/files/files.ts'
import { join } from 'node:path'
import { readShownRev } from '../../storage/state/progress-file.ts'
import { readProgress } from '../../storage/state/read-progress.ts'
import { releaseState, sprintPath } from '../../storage/state/sprint-folder.ts'
import { bindState } from '../../storage/state/state-folder.ts'
import { confirm } from '../io/confirm.ts'
import { compileSprint } from './compile-sprint.ts'
import type { Io } from '../io/io.ts'
import { applyFactToProgress } from './sprint-state.ts'

export type PreparedSprint = {
  /** The state to open the store with. */
  readonly progress: Progress
  /** For a sprint that has run and whose SPRINT.yaml has changed: the fact to record, and the changes. */
  readonly recompiled?: { readonly fact: Fact; readonly changes: readonly string[] }
}

type PrepareOptions = {
  readonly sprintDir: string
  readonly workflows?: string | undefined
  readonly strict?: boolean | undefined
  /** The user has moved the sprint's folder. */
  readonly rebind?: boolean | undefined
}

/** `ready` is absent if a diagnostic is an error. */
type PrepareResult = { readonly diagnostics: readonly Diagnostic[]; readonly ready?: PreparedSprint }

/** Compiles SPRINT.yaml and merges it with the recorded progress. */
export async function prepareSprint(options: PrepareOptions, io: Io): Promise<PrepareResult> {
  const { sprintDir } = options
  await bindState({
    sprintDir,
    fold: applyFactToProgress,
    now: io.now,
    confirmMove: async (from) => options.rebind === true || confirmMove(from, io),
  })
  // In the form the store reads, so that the store does not read it again.
  const before = await readProgress({ sprintDir, fold: applyFactToProgress, shownRev: await readShownRev(sprintDir) })
  const hasRun = before !== undefined && before.status !== 'not-started'
  // A PROGRESS.yaml from elsewhere can run without its SPRINT.yaml.
  if (hasRun && !exists(sprintPath(sprintDir))) return { diagnostics: [], ready: { progress: before } }
  const { progress: compiled, diagnostics } = await compileSprint(sprintDir, options, io)
  if (!compiled) return { diagnostics }
  if (!hasRun) return { diagnostics, ready: { progress: withMessages(compiled, before) } }
  if (before.mode !== compiled.mode) throw modeChangedError(before, compiled, sprintDir)
  const at = io.now()
  const { changes } = recompile(before, compiled, at)
  if (changes.length === 0) return { diagnostics, ready: { progress: before } }
  return {
    diagnostics,
    ready: { progress: before, recompiled: { fact: { type: 'recompiled', at, compiled }, changes } },
  }
}

const confirmMove = (from: string, io: Io): Promise<boolean> =>
  confirm(`The state of this sprint belongs to ${from}, which no longer exists. Was the folder moved?`, io)

/** A message can arrive before the agent has ever started. */
const withMessages = (compiled: Progress, before: Progress | undefined): Progress =>
  before?.messages ? { ...compiled, messages: before.messages } : compiled

const modeChangedError = (before: Progress, compiled: Progress, sprintDir: string): RalphError =>
  new RalphError(
    'NOT_SUPPORTED',
    `the sprint has run in ${before.mode} mode and cannot continue in ${compiled.mode} mode`,
    {
      place: { file: sprintPath(sprintDir) },
      hint: 'start over with: ralph compile <sprint-dir> --fresh',
    },
  )

/** Creates a folder beside the old one with the user's files and none of the history. */
export async function createFreshFolder(sprintDir: string): Promise<string> {
  const folder = findFreeFolder(sprintDir)
  await releaseState(folder)
  await createFolder(folder)
  for (const name of (await listFolder(sprintDir)).filter(
    (file) => /^[A-Z]+\.yaml$/.test(file) && file !== 'PROGRESS.yaml',
  )) {
    if (isFile(join(sprintDir, name))) await copyFileTo(join(sprintDir, name), join(folder, name))
  }
  return folder
}

function findFreeFolder(sprintDir: string): string {
  for (let n = 2; ; n++) {
    const folder = `${sprintDir}-${n}`
    if (!exists(folder)) return folder
  }
}
