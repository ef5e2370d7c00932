import { RalphError } from '../../contract/errors.ts'
import { Mode, type Progress } from '../../contract/progress.ts'
import { chooseMode } from '../../loop/ways/goal/iteration-mode.ts'
import { buildIterationPrompt } from '../../loop/prompts.ts'
import { findDueWork } from '../../loop/ways/phases/next-work.ts'
import { reopenFailed } from '../../loop/ways/phases/reopen-failed.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { defineCommand, parsePositiveNumber } from '../io/command.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

export const prompt = defineCommand({
  name: 'prompt',
  summary: 'Print the next prompt',
  arguments: ['<sprint-dir>'],
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
  examples: ['ralph prompt .claude/sprints/2026-11-15_auth', 'ralph prompt s --mode reflecting'],
  async run({ values, positionals: [given = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    const progress = await requireProgress(sprintDir, io)
    const due = progress.mode === 'standard' ? nextPhasePrompt(progress, values) : nextIterationPrompt(progress, values)
    const text = buildIterationPrompt(progress, due)
    io.print(values.json === true ? JSON.stringify({ iteration: due.number, ...due, prompt: text }) : text.trimEnd())
    return 0
  },
})

type PromptFlags = { readonly mode?: string; readonly iteration?: string }

/** For phases: the current work item, or the next one. */
function nextPhasePrompt(progress: Progress, { mode, iteration }: PromptFlags) {
  if (mode !== undefined)
    throw new RalphError('USAGE', '--mode works only for sprints with a goal; this sprint has phases')
  const number = parsePositiveNumber(iteration, '--iteration')
  const { number: current, work = findDueWork(reopenFailed(progress))?.ref } = progress.live[0] ?? {
    number: progress.stats.currentIteration + 1,
  }
  if (!work) throw new RalphError('USAGE', 'the sprint has no next prompt')
  return { number: number ?? current, mode: 'executing' as const, step: work.step ?? work.phase, work }
}

function nextIterationPrompt(progress: Progress, { mode, iteration }: PromptFlags) {
  const number = parsePositiveNumber(iteration, '--iteration')
  const wanted = Mode.safeParse(mode)
  if (mode !== undefined && !wanted.success) {
    throw new RalphError('USAGE', `--mode expects ${Mode.options.join(', ')}, not "${mode}"`)
  }
  const [live] = progress.live
  const chosen = chooseMode(progress)
  const due = live ?? { number: progress.stats.currentIteration + 1, mode: chosen.mode, step: chosen.step?.id }
  const asked = wanted.success
    ? { mode: wanted.data, step: wanted.data === 'executing' ? chosen.step?.id : undefined }
    : due
  return { number: number ?? due.number, mode: asked.mode, step: asked.step }
}
