import { RalphError } from '../../contract/errors.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { restoreIteration as restoreFiles } from '../../storage/git/workspace.ts'
import { defineCommand } from '../io/command.ts'
import { findSprintAndValue } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'
import { resolveSprintWorkspace } from '../sprint/changes.ts'

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore the files to their state after an iteration',
  arguments: ['[sprint]', '<iteration>'],
  options: { json: { type: 'boolean', description: 'print {restored, saved} as JSON' } },
  details: `0 is the state before the first iteration. Ralph saves the current files as a checkpoint first.
Only files change; your commits, index and branch stay as they are.`,
  examples: ['ralph restore 7', 'ralph restore auth 7'],
  async run({ values, positionals }, io) {
    const { sprintDir, name, value: iteration = '' } = await findSprintAndValue(positionals, () => true, io)
    const number = Number(iteration)
    if (!Number.isInteger(number) || number < 0) {
      throw new RalphError('USAGE', `restore: "${iteration}" is not an iteration number`)
    }
    const owner = readSprintOwner(sprintDir)
    if (owner !== undefined) {
      throw new RalphError('SPRINT_LOCKED', `the sprint is running (${owner})`, {
        place: { file: name },
        hint: 'pause it first',
      })
    }
    const progress = await requireProgress(sprintDir, io)
    const workspace = resolveSprintWorkspace(sprintDir, progress, io)
    const saved = await restoreFiles(workspace, number, io.now())
    const ref = `refs/ralph/${progress.sprintId}/${saved}`
    if (values.json === true) io.print(JSON.stringify({ restored: number, saved: ref }))
    else io.print(`restored the files to iteration ${number}; the previous files are saved in ${ref}`)
    return 0
  },
})
