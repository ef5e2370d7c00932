import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import {
  assertFolderWritable,
  createPrivateFolder,
  exists,
  isNoSpaceError,
  readTextIfExists,
  removeFile,
  removeFolder,
  unwritableFile,
} from '../../platform/files/files.ts'
import { createPrivateFile } from '../../platform/files/private-file.ts'
import {
  parseStateId,
  realSprintPath,
  rememberState,
  formatStateKey,
  stateId,
  stateKeyFile,
  statePathFile,
  stateRoot,
} from '../../platform/files/state-folder.ts'
import { newUuid } from '../../platform/uuid.ts'
import type { Fold } from './journal.ts'
import { finishMove, isOldSprint, moveOldJournal } from './old-state.ts'
import { findProject } from './sprint-folder.ts'

/** `sprint.json` in the folder of a state: whose state it is. */
const SprintState = z.object({
  sprintDir: z.string(),
  workTree: z.string(),
  createdAt: z.string(),
  /** The state of an earlier version is on its way from the sprint's folder. */
  isMoving: z.boolean().optional(),
})
type SprintState = z.infer<typeof SprintState>

export type BindOptions = {
  readonly sprintDir: string
  readonly fold: Fold
  readonly now: () => number
  /** Asked when the sprint's folder was moved here from another path. */
  readonly confirmMove?: ((from: string) => Promise<boolean>) | undefined
}

/**
 * Makes sure that a sprint has a state in `$RALPH_HOME/state`: the one that it has, the one of the folder that was moved here,
 * the one that an earlier version kept in the project, or a new one. A copy of a sprint gets its own.
 */
export async function bindState(options: BindOptions): Promise<void> {
  const { sprintDir } = options
  // A state that nothing in the sprint's folder names would be taken for that of the sprint later.
  if (stateId(sprintDir) === undefined) assertFolderWritable(sprintDir)
  const id = await openState(options).catch((error: unknown) => {
    if (isNoSpaceError(error)) throw unwritableFile(stateRoot(), error)
    throw isWriteError(error) ? unwritableState(error) : error
  })
  rememberState(sprintDir, id)
  await writeId(sprintDir, id)
}

async function openState(options: BindOptions): Promise<string> {
  const { sprintDir } = options
  await createKey()
  const id = stateId(sprintDir) ?? (await adoptMoved(options)) ?? (await createState(options))
  const state = await readState(id)
  if (state?.isMoving === true) await finishMove(sprintDir, join(stateRoot(), id))
  if (!state || state.isMoving === true) await writeState(id, describeSprint(options))
  return id
}

const isWriteError = (error: unknown): boolean =>
  error instanceof RalphError ? error.code === 'FILE_UNWRITABLE' : error instanceof Error && 'syscall' in error

/** In the sprint's folder: names its state, so that a moved folder finds it. Believed only after a question. */
const idFile = (sprintDir: string): string => join(sprintDir, '.ralph-id')

/** False after an agent cleaned the project, e.g. with `git clean -fdx`. */
export const hasId = (sprintDir: string): boolean => exists(idFile(sprintDir))

export async function restoreId(sprintDir: string): Promise<void> {
  const id = stateId(sprintDir)
  if (id !== undefined) await writeId(sprintDir, id)
}

/** Writes again what was deleted of the state that this process has bound. */
export async function restoreState(options: Pick<BindOptions, 'sprintDir' | 'now'>): Promise<void> {
  const id = stateId(options.sprintDir)
  if (id === undefined) return
  if (!exists(stateFile(id))) await writeState(id, describeSprint(options))
  await createPrivateFile(stateKeyFile(), formatStateKey())
  await claimPath(options.sprintDir, id)
}

async function writeId(sprintDir: string, id: string): Promise<void> {
  const file = idFile(sprintDir)
  if ((await readTextIfExists(file))?.trim() === id) return
  await writeFileAtomic(file, `${id}\n`).catch((error: unknown) => {
    throw unwritableFile(file, error)
  })
}

async function createKey(): Promise<void> {
  const file = stateKeyFile()
  if (exists(file)) return
  await createPrivateFolder(dirname(file))
  await createPrivateFile(file, `${randomBytes(32).toString('hex')}\n`)
}

/** The id of the state of a folder that was moved here; undefined if it was not. */
async function adoptMoved({ sprintDir, now, confirmMove }: BindOptions): Promise<string | undefined> {
  const id = parseStateId(await readTextIfExists(idFile(sprintDir)).catch(() => undefined))
  const state = id === undefined ? undefined : await readState(id)
  // A folder that still exists was copied, or is another work tree.
  if (id === undefined || !state || exists(state.sprintDir)) return undefined
  if ((await confirmMove?.(state.sprintDir)) !== true) throw movedSprint(sprintDir, state)
  const winner = await claimPath(sprintDir, id)
  await removeFile(statePathFile(state.sprintDir))
  if (winner === id) await writeState(id, { ...describeSprint({ sprintDir, now }), createdAt: state.createdAt })
  return winner
}

async function createState(options: BindOptions): Promise<string> {
  const { sprintDir } = options
  const id = newUuid(options.now())
  const folder = join(stateRoot(), id)
  await createPrivateFolder(stateRoot())
  if (isOldSprint(sprintDir)) {
    return moveOldJournal(options, { id, folder }, async () => {
      await writeState(id, { ...describeSprint(options), isMoving: true })
      return claimPath(sprintDir, id)
    })
  }
  await createPrivateFolder(folder)
  await writeState(id, describeSprint(options))
  const winner = await claimPath(sprintDir, id)
  if (winner !== id) await removeFolder(folder)
  return winner
}

/** Maps the sprint's folder to a state; another process may have been faster. */
async function claimPath(sprintDir: string, id: string): Promise<string> {
  const file = statePathFile(sprintDir)
  await createPrivateFolder(dirname(file))
  if (await createPrivateFile(file, `${id}\n`)) return id
  return parseStateId(await readTextIfExists(file)) ?? id
}

function describeSprint({ sprintDir, now }: Pick<BindOptions, 'sprintDir' | 'now'>): SprintState {
  const real = realSprintPath(sprintDir)
  return { sprintDir: real, workTree: findProject(real, dirname(real)), createdAt: formatTimestamp(now()) }
}

const stateFile = (id: string): string => join(stateRoot(), id, 'sprint.json')

async function readState(id: string): Promise<SprintState | undefined> {
  try {
    return SprintState.safeParse(JSON.parse((await readTextIfExists(stateFile(id))) ?? 'null')).data
  } catch {
    return undefined
  }
}

async function writeState(id: string, state: SprintState): Promise<void> {
  await createPrivateFolder(dirname(stateFile(id)))
  await writeFileAtomic(stateFile(id), `${JSON.stringify(state, undefined, 2)}\n`)
}

const movedSprint = (sprintDir: string, { sprintDir: from }: SprintState): RalphError =>
  new RalphError('SPRINT_MOVED', `the state of this sprint belongs to ${from}, which no longer exists`, {
    place: { file: sprintDir },
    hint: 'if you moved the folder, continue with: ralph run <sprint> --rebind; to start over, delete its .ralph-id',
  })

const unwritableState = (cause: unknown): RalphError =>
  new RalphError('STATE_UNWRITABLE', `cannot keep the state of the sprint: ${errorMessage(cause)}`, {
    place: { file: stateRoot() },
    hint: 'make the folder writable, or set RALPH_HOME to a folder that you can write to',
    cause,
  })
