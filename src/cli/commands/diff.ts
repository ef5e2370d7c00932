import { assertCheckpoint, hasFailedCheckpoint } from '../../storage/git/checkpoint-log.ts'
import { assertComparable, diffIterations } from '../../storage/git/restore.ts'
import { defineCommand, parsePositiveNumber } from '../io/command.ts'
import { findSprintAndValue } from '../sprint/find-sprint.ts'
import { requireSprintWorkspace } from '../sprint/changes.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

export const diff = defineCommand({
  name: 'diff',
  summary: 'Show the changes of an iteration or of the whole sprint',
  arguments: ['[sprint]', '[iteration]'],
  options: {
    stat: { type: 'boolean', description: 'list files and counts only' },
    json: { type: 'boolean', description: 'print {from, to, diff} as JSON' },
  },
  details: 'Compares checkpoints, so it includes committed and uncommitted changes. Checkpoints need a git repository.',
  examples: ['ralph diff', 'ralph diff 3', 'ralph diff auth 3 --stat'],
  async run({ values, positionals }, io) {
    const { sprintDir, value: iteration } = await findSprintAndValue(positionals, isWholeNumber, io)
    const progress = await requireProgress(sprintDir, io)
    const number = parsePositiveNumber(iteration, 'diff: [iteration]')
    const range = { from: number === undefined ? 0 : number - 1, to: number ?? progress.stats.currentIteration }
    if (number !== undefined) await assertCheckpoint(sprintDir, number)
    if (await hasFailedCheckpoint(sprintDir, range.from)) {
      io.printError(`iteration ${range.from} has no checkpoint, so this includes its changes`)
    }
    const workspace = requireSprintWorkspace(sprintDir, progress, io)
    await assertComparable(workspace)
    const text = await diffIterations(workspace, range, values.stat === true ? ['--stat'] : [])
    if (values.json === true) io.print(JSON.stringify({ ...range, diff: text }))
    else io.print(text === '' ? 'no changes' : text)
    return 0
  },
})

const isWholeNumber = (text: string): boolean => /^\d+$/.test(text)
