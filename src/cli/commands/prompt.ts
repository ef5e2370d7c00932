import { stripControlSequences } from '../io/paint.ts'
import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { Mode, type Progress } from '../../contract/progress.ts'
import { readTextIfExists } from '../../platform/files/files.ts'
import { buildIterationPrompt } from '../../loop/prompts.ts'
import { previewIteration } from '../../loop/way-queries.ts'
import { sharedContextPath } from '../../storage/state/sprint-folder.ts'
import { defineCommand, parsePositiveNumber } from '../io/command.ts'
import { findSprint } from '../sprint/find-sprint.ts'
import { loadEditedProgress, progressNotFound } from '../sprint/sprint-state.ts'

export const prompt = defineCommand({
  name: 'prompt',
  summary: 'Print the next prompt',
  arguments: ['[sprint]'],
  options: {
    mode: {
      type: 'string',
      value: 'MODE',
      description: 'planning, executing or reflecting; default: the mode of the next iteration',
    },
    iteration: {
      type: 'string',
      value: 'N',
      description: 'iteration number in the prompt; default: the next iteration',
    },
    json: { type: 'boolean', description: 'print {iteration, mode, step, prompt} as JSON' },
  },
  examples: ['ralph prompt', 'ralph prompt auth --mode reflecting'],
  async run({ values, positionals: [sprintArgument] }, io) {
    const { sprintDir } = await findSprint(sprintArgument, io)
    const progress = await loadEditedProgress(sprintDir, io)
    if (!progress) throw progressNotFound(sprintDir, io)
    const due = choosePrompt(progress, values)
    const shared = await readTextIfExists(sharedContextPath(sprintDir))
    const text = buildIterationPrompt(progress, { ...due, shared, progressFile: join(sprintDir, 'PROGRESS.yaml') })
    io.print(
      values.json === true
        ? JSON.stringify({ iteration: due.number, ...due, prompt: text })
        : stripControlSequences(text.trimEnd()),
    )
    return 0
  },
})

type PromptFlags = { readonly mode?: string; readonly iteration?: string }

/** The iteration that runs, or the next one. */
function choosePrompt(progress: Progress, { mode, iteration }: PromptFlags) {
  const number = parsePositiveNumber(iteration, '--iteration')
  const due = previewIteration(progress, parseMode(progress, mode))
  if (!due) throw new RalphError('USAGE', 'the sprint has no next prompt')
  return { ...due, number: number ?? due.number }
}

function parseMode(progress: Progress, word: string | undefined): Mode | undefined {
  if (word === undefined) return undefined
  if (progress.phases)
    throw new RalphError('USAGE', '--mode works only for sprints with a goal; this sprint has phases')
  const parsed = Mode.safeParse(word)
  if (parsed.success) return parsed.data
  throw new RalphError('USAGE', `--mode expects ${Mode.options.join(', ')}, not "${word}"`)
}
