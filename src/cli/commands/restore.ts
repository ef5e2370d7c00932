import { RalphError } from '../../contract/errors.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { restoreFiles } from '../../storage/git/restore.ts'
import { assertAlone } from '../../storage/state/running-sprints.ts'
import { defineCommand } from '../io/command.ts'
import { requireProgress } from '../sprint/sprint-state.ts'
import { resolveSprintWorkspace } from '../sprint/changes.ts'

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore the files to their state after an iteration',
  arguments: ['<sprint-dir>', '<iteration>'],
  options: { json: { type: 'boolean', description: 'print {restored, saved} as JSON' } },
  details: `0 is the state before the first iteration. Ralph saves the current files as a checkpoint first.
Only files change; your commits, index and branch stay as they are.`,
  examples: ['ralph restore .claude/sprints/2026-11-15_auth 7'],
  async run({ values, positionals: [given = '', iteration = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    const number = Number(iteration)
    if (!Number.isInteger(number) || number < 0) {
      throw new RalphError('USAGE', `restore: "${iteration}" is not an iteration number`)
    }
    const owner = readSprintOwner(sprintDir)
    if (owner !== undefined) {
      throw new RalphError('SPRINT_LOCKED', `the sprint is running (${owner})`, {
        place: { file: given },
        hint: 'pause it first',
      })
    }
    const progress = await requireProgress(sprintDir, io)
    const workspace = resolveSprintWorkspace(sprintDir, progress, io)
    await assertAlone(sprintDir, workspace.project)
    const { saved, missing } = await restoreFiles(workspace, { iteration: number }, io.now())
    if (values.json === true) io.print(JSON.stringify({ restored: number, saved: saved[0], refs: saved, missing }))
    else {
      io.print(`restored the files to iteration ${number}; the previous files are saved in ${saved[0]}`)
      for (const folder of missing) io.print(`not restored: ${folder} was a repository then, and is none now`)
    }
    return 0
  },
})
