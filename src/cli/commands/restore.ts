import { RalphError } from '../../contract/errors.ts'
import { previewRestore, restoreFiles } from '../../storage/git/restore.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { withWorkTree } from '../../storage/state/work-tree-lock.ts'
import { askYesOrNo } from '../io/confirm.ts'
import { defineCommand } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { resolveSprintWorkspace } from '../sprint/changes.ts'
import { findSprint, findSprintAndValue, type FoundSprint } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore the files to their state after an iteration',
  arguments: ['[sprint]', '[iteration]'],
  options: {
    undo: { type: 'boolean', description: 'bring back the files that the last restore replaced' },
    yes: { type: 'boolean', short: 'y', description: 'do not ask on a terminal' },
    json: { type: 'boolean', description: 'print {restored, saved} as JSON' },
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
    const workspace = resolveSprintWorkspace(sprint.sprintDir, progress, io)
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
  workspace: ReturnType<typeof resolveSprintWorkspace>,
  point: RestorePoint,
  { sprint, values, io }: RestoreRequest,
): Promise<number> {
  const what = point === 'undo' ? 'the files before the last restore' : `iteration ${point.iteration}`
  if (values.json !== true) {
    for (const line of changeLines(await previewRestore(workspace, point, ['--name-status', '--no-renames'])))
      io.print(line)
    const answer = values.yes === true ? 'yes' : await askYesOrNo(`Restore ${what}?`, io)
    if (answer !== 'yes' && io.canAsk) {
      io.print('nothing was restored')
      return 1
    }
  }
  const { saved, unpinned, missing } = await restoreFiles(workspace, point, io.now())
  const restored = point === 'undo' ? 'undo' : point.iteration
  if (values.json === true) io.print(JSON.stringify({ restored, saved: saved[0], refs: saved, missing }))
  else {
    io.print(`restored the files to ${what}; the previous files are saved in ${saved[0]}`)
    for (const store of unpinned) io.print(`your repository does not have this ref; it is in ${store}`)
    for (const folder of missing) io.print(`not restored: ${folder} was a repository then, and is none now`)
    io.print(`undo with: ralph restore ${sprint.name} --undo`)
  }
  return 0
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

function changeLines(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '')
  const shown = lines.slice(0, maxShownFiles).map((line) => {
    const [how = '', path = ''] = line.split('\t')
    return `  ${changeWords[how] ?? 'changes'} ${path}`
  })
  const more = lines.length > maxShownFiles ? [`  and ${lines.length - maxShownFiles} more`] : []
  return lines.length === 0 ? ['no file changes'] : [...shown, ...more]
}
