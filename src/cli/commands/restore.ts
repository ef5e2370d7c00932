import { RalphError } from '../../contract/errors.ts'
import { listRestoreChanges, restoreFiles, type RestoreChange, type RestoredFiles } from '../../storage/git/restore.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { withWorkTree } from '../../storage/state/work-tree-lock.ts'
import { toOneLine } from '../../words/text.ts'
import { askYesOrNo } from '../io/confirm.ts'
import { defineCommand } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { requireSprintWorkspace } from '../sprint/changes.ts'
import { findSprint, findSprintAndValue, type FoundSprint } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore the files to their state after an iteration',
  arguments: ['[sprint]', '[iteration]'],
  options: {
    undo: { type: 'boolean', description: 'bring back the files that the last restore replaced' },
    yes: { type: 'boolean', short: 'y', description: 'do not ask on a terminal' },
    json: { type: 'boolean', description: 'print {restored, saved, refs, revived, missing} as JSON' },
  },
  details: `0 is the state before the first iteration. Lists the files that change, and asks on a terminal.
Ralph saves the current files as a checkpoint first; "ralph restore --undo" brings them back.
Only files change; your commits, index and branch stay as they are.`,
  examples: ['ralph restore 7', 'ralph restore auth 7', 'ralph restore --undo'],
  async run({ values, positionals }, io) {
    const isUndo = values.undo === true
    const { value, ...sprint } = isUndo
      ? { ...(await findSprint(positionals[0], io)), value: undefined }
      : await findSprintAndValue(positionals, () => true, io)
    refuseRunning(sprint)
    const progress = await requireProgress(sprint.sprintDir, io)
    const point = isUndo ? ('undo' as const) : { iteration: parseIteration(value, progress.stats.currentIteration) }
    const workspace = requireSprintWorkspace(sprint.sprintDir, progress, io)
    return withWorkTree(workspace.project, sprint.name, () =>
      restoreWorkspace(workspace, point, { sprint, values, io }),
    )
  },
})

type RestorePoint = 'undo' | { readonly iteration: number }
type RestoreRequest = {
  readonly sprint: FoundSprint
  readonly values: { readonly json?: boolean; readonly yes?: boolean }
  readonly io: Io
}

async function restoreWorkspace(
  workspace: ReturnType<typeof requireSprintWorkspace>,
  point: RestorePoint,
  { sprint, values, io }: RestoreRequest,
): Promise<number> {
  const what = point === 'undo' ? 'the files from before the last restore' : `the files of iteration ${point.iteration}`
  const changes = values.json === true ? [] : await listRestoreChanges(workspace, point)
  for (const line of changeLines(changes)) io.print(line)
  if (changes.length > 0) {
    const answer = values.yes === true ? 'yes' : await askYesOrNo(`Restore ${what}?`, io)
    if (answer !== 'yes' && io.canAsk) {
      io.print('nothing was restored')
      return 1
    }
  }
  const done = await restoreFiles(workspace, point, io.now())
  const { saved, revived, missing } = done
  const restored = point === 'undo' ? 'undo' : point.iteration
  const json = { restored, saved: saved[0] ?? null, refs: saved, revived, missing }
  for (const line of values.json === true ? [JSON.stringify(json)] : endLines(what, done, sprint)) io.print(line)
  return 0
}

function endLines(what: string, { saved, unpinned, revived, missing }: RestoredFiles, { name }: FoundSprint): string[] {
  const left = missing.map((folder) => `not restored: ${folder} was a repository then, and is none now`)
  if (saved.length === 0) return [`these are already ${what}: nothing was restored or saved`, ...left]
  return [
    `restored ${what}; the previous files are saved in ${saved[0]}`,
    ...unpinned.map((store) => `your repository does not have this ref; it is in ${store}`),
    ...revived.map((folder) => `restored ${folder} without its git history, which no checkpoint contains`),
    ...left,
    `undo with: ralph restore ${name} --undo`,
  ]
}

function refuseRunning({ sprintDir, name }: FoundSprint): void {
  const owner = readSprintOwner(sprintDir)
  if (owner === undefined) return
  throw new RalphError('SPRINT_LOCKED', `the sprint is running (${owner})`, {
    place: { file: name },
    hint: 'pause it first',
  })
}

function parseIteration(text: string | undefined, last: number): number {
  if (text === undefined) throw new RalphError('USAGE', 'restore: missing [iteration]', { hint: 'a number, or --undo' })
  const number = Number(text)
  if (!Number.isInteger(number) || number < 0)
    throw new RalphError('USAGE', `restore: "${text}" is not an iteration number`)
  if (number > last)
    throw new RalphError('CHECKPOINT_NOT_FOUND', `restore: there is no iteration ${number}; the last one is ${last}`)
  return number
}

const maxShownFiles = 20
const changeWords: Readonly<Record<string, string>> = { A: 'adds', D: 'removes', M: 'changes' }

function changeLines(changes: readonly RestoreChange[]): string[] {
  const shown = changes
    .slice(0, maxShownFiles)
    .map(({ how, path }) => `  ${changeWords[how] ?? 'changes'} ${toOneLine(path)}`)
  return changes.length > maxShownFiles ? [...shown, `  and ${changes.length - maxShownFiles} more`] : shown
}
