import { RalphError } from '../../contract/errors.ts'
import { Mode, type Progress } from '../../contract/progress.ts'
import { chooseMode } from '../../loop/mode.ts'
import { promptFor } from '../../loop/protocol.ts'
import { nextDue } from '../../loop/standard/next-work.ts'
import { reopenFailed } from '../../loop/standard/reopen.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { command, positiveNumber } from '../io/command.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

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
    const due = progress.mode === 'standard' ? duePhase(progress, values) : dueIteration(progress, values)
    const text = promptFor(progress, due)
    io.print(values.json === true ? JSON.stringify({ iteration: due.number, ...due, prompt: text }) : text.trimEnd())
    return 0
  },
})

type Values = { readonly mode?: string; readonly iteration?: string }

/** With phases: the work that is under way, or that would begin next. */
function duePhase(progress: Progress, { mode, iteration }: Values) {
  if (mode !== undefined) throw new RalphError('USAGE', '--mode is for goal-driven sprints; this one has phases')
  const number = positiveNumber(iteration, '--iteration')
  const { number: current, work = nextDue(reopenFailed(progress))?.ref } = progress.live[0] ?? {
    number: progress.stats.currentIteration + 1,
  }
  if (!work) throw new RalphError('USAGE', 'there is nothing left to ask the agent')
  return { number: number ?? current, mode: 'executing' as const, step: work.step ?? work.phase, work }
}

function dueIteration(progress: Progress, { mode, iteration }: Values) {
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
