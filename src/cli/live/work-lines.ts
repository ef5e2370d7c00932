import type { CompiledPhase, CompiledStep } from '../../contract/phases.ts'
import type { Progress, Step } from '../../contract/progress.ts'
import { oneLine } from '../io/paint.ts'
import type { Box, Draw } from './draw.ts'
import { fit, wrap } from '../io/width.ts'

/** The work of a sprint: the steps of a goal, or the phases of a workflow with the items of the open ones. */
export const workLines = (progress: Progress, draw: Draw, box: Box): string[] =>
  progress.mode === 'standard' ? phaseLines(progress, draw, box) : stepLines(progress, draw, box)

/** The last completed steps, the current one in full, and the next ones; the rest is counted. */
function stepLines({ dynamicSteps, live, stats }: Progress, { paint }: Draw, { rows, width }: Box): string[] {
  if (dynamicSteps.length === 0) return [paint.dim('no steps yet')]
  const current = live[0]?.step
  const pending = dynamicSteps.filter(({ status }) => status === 'pending')
  const completed = dynamicSteps.filter(({ status }) => status === 'completed')
  const shownDone = completed.slice(-Math.max(0, Math.min(3, rows - 2)))
  const room = Math.max(1, rows - shownDone.length - 1)
  const spare = Math.max(0, room - Math.min(pending.length, room))
  const lines = (step: Step): string[] => {
    if (step.id !== current) return [`○ ${fit(oneLine(step.prompt), width - 2)}`]
    const [first = '', ...more] = wrap(oneLine(step.prompt), width - 2, 1 + Math.min(2, spare))
    return [`${paint.cyan('●')} ${paint.bold(first)}`, ...more.map((line) => `  ${paint.bold(line)}`)]
  }
  const next = pending.slice(0, room)
  const hidden = [
    ...(pending.length > next.length ? [`+ ${pending.length - next.length} more`] : []),
    ...(stats.completedSteps > shownDone.length ? [`+ ${stats.completedSteps - shownDone.length} done`] : []),
  ]
  return [
    ...shownDone.map(({ prompt }) => `${paint.green('✓')} ${paint.dim(fit(oneLine(prompt), width - 2))}`),
    ...next.flatMap(lines),
    ...(hidden.length > 0 ? [paint.dim(hidden.join(', '))] : []),
  ].slice(0, rows)
}

/** Phases in order; if they do not fit, those around the current one. */
function phaseLines({ phases = [] }: Progress, draw: Draw, { rows, width }: Box): string[] {
  const lines = phases.flatMap((phase) => {
    const { steps = [] } = phase
    const done = steps.filter(({ status }) => status === 'completed').length
    const items = steps.length > 0 ? `  ${done} of ${steps.length}` : ''
    const open = steps.filter(({ status }) => phase.status === 'in-progress' && status !== 'completed')
    return [
      { at: phase.status === 'in-progress', line: unitLine(phase, items, draw, width) },
      ...open.map((step) => ({ at: false, line: `  ${unitLine(step, '', draw, width - 2)}` })),
    ]
  })
  const first = Math.max(0, Math.min(lines.findIndex(({ at }) => at) - 1, lines.length - rows))
  return lines.slice(first, first + rows).map(({ line }) => line)
}

function unitLine(unit: CompiledPhase | CompiledStep, items: string, { paint }: Draw, width: number): string {
  const { id, status, error, summary, prompt = '' } = unit
  const marks: Readonly<Record<typeof status, string>> = {
    pending: '○',
    'in-progress': paint.cyan('●'),
    completed: paint.green('✓'),
    failed: paint.red('✗'),
    blocked: paint.red('✗'),
    skipped: '–',
  }
  const head = fit(`${id}${items}`, width - 2)
  const room = width - 4 - head.length
  const text = room < 8 ? '' : fit(oneLine(error ?? summary ?? prompt), room)
  return `${marks[status]} ${head}  ${paint.dim(text)}`.trimEnd()
}
