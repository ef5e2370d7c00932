import { RalphError } from '../../contract/errors.ts'
import { Mode, type Progress } from '../../contract/progress.ts'
import { chooseMode } from '../../loop/mode.ts'
import { buildPrompt } from '../../loop/prompt.ts'
import { openSprintFolder } from '../../storage/sprint-folder.ts'
import { command, positiveNumber } from '../command.ts'
import { requireProgress } from '../sprint-state.ts'

export const prompt = command({
  name: 'prompt',
  summary: 'Print the prompt that would be sent next',
  arguments: ['<sprint-dir>'],
  options: {
    mode: {
      type: 'string',
      value: 'MODE',
      description: 'planning, executing or reflecting; default: the one that is due',
    },
    iteration: { type: 'string', value: 'N', description: 'iteration number in the prompt; default: the next one' },
    json: { type: 'boolean', description: 'print {iteration, mode, step, prompt} as JSON' },
  },
  examples: ['ralph prompt .claude/sprints/2026-11-15_auth', 'ralph prompt s --mode reflecting'],
  async run({ values, positionals: [given = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    const progress = await requireProgress(sprintDir, io)
    const due = dueIteration(progress, values)
    const text = buildPrompt(progress, due)
    io.print(values.json === true ? JSON.stringify({ iteration: due.number, ...due, prompt: text }) : text.trimEnd())
    return 0
  },
})

function dueIteration(
  progress: Progress,
  { mode, iteration }: { readonly mode?: string; readonly iteration?: string },
) {
  const number = positiveNumber(iteration, '--iteration')
  const wanted = Mode.safeParse(mode)
  if (mode !== undefined && !wanted.success) {
    throw new RalphError('USAGE', `--mode takes ${Mode.options.join(', ')}, not "${mode}"`)
  }
  const [live] = progress.live
  const chosen = chooseMode(progress)
  const due = live ?? { number: progress.stats.currentIteration + 1, mode: chosen.mode, step: chosen.step?.id }
  const asked = wanted.success
    ? { mode: wanted.data, step: wanted.data === 'executing' ? chosen.step?.id : undefined }
    : due
  return { number: number ?? due.number, mode: asked.mode, step: asked.step }
}
