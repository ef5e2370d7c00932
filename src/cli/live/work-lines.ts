import type { CompiledPhase, CompiledStep } from '../../contract/phases.ts'
import type { Progress, Step } from '../../contract/progress.ts'
import { toOneLine } from '../../words/text.ts'
import type { ScreenBox, DrawContext } from './draw.ts'
import { describeWork, markWork } from '../view/phase-lines.ts'
import { fitText, wrapText } from '../io/width.ts'

/** The work of a sprint: the steps of a goal, or the phases of a workflow with the items of the open ones. */
export const workLines = (progress: Progress, draw: DrawContext, box: ScreenBox): string[] =>
  progress.phases ? livePhaseLines(progress, draw, box) : liveStepLines(progress, draw, box)

/** The last completed steps, the current one in full, and the next ones; the rest is counted. */
function liveStepLines(
  { dynamicSteps, live, stats, status: state }: Progress,
  { paint }: DrawContext,
  { rows, width }: ScreenBox,
): string[] {
  if (dynamicSteps.length === 0) return [paint.dim(state === 'in-progress' ? 'no steps yet' : 'no steps')]
  const current = live[0]?.step
  const pending = dynamicSteps.filter(({ status }) => status === 'pending')
  const completed = dynamicSteps.filter(({ status }) => status === 'completed')
  const shownDone = completed.slice(-Math.max(0, Math.min(3, rows - 2)))
  const room = Math.max(1, rows - shownDone.length - 1)
  const spare = Math.max(0, room - Math.min(pending.length, room))
  const lines = (step: Step): string[] => {
    if (step.id !== current) return [`○ ${fitText(toOneLine(step.prompt), width - 2)}`]
    const [first = '', ...more] = wrapText(toOneLine(step.prompt), width - 2, 1 + Math.min(2, spare))
    return [`${paint.cyan('●')} ${paint.bold(first)}`, ...more.map((line) => `  ${paint.bold(line)}`)]
  }
  const next = pending.slice(0, room)
  const hidden = [
    ...(pending.length > next.length ? [`+ ${pending.length - next.length} more`] : []),
    ...(stats.completedSteps > shownDone.length ? [`+ ${stats.completedSteps - shownDone.length} done`] : []),
  ]
  return [
    ...shownDone.map(({ prompt }) => `${paint.green('✓')} ${paint.dim(fitText(toOneLine(prompt), width - 2))}`),
    ...next.flatMap(lines),
    ...(hidden.length > 0 ? [paint.dim(hidden.join(', '))] : []),
  ].slice(0, rows)
}

/** Phases in order; if they do not fit, those around the current one. */
function livePhaseLines({ phases = [] }: Progress, draw: DrawContext, { rows, width }: ScreenBox): string[] {
  const lines = phases.flatMap((phase) => {
    const { steps = [] } = phase
    const done = steps.filter(({ status }) => status === 'completed').length
    const items = steps.length > 0 ? `  ${done} of ${steps.length}` : ''
    const open = steps.filter(({ status }) => phase.status === 'in-progress' && status !== 'completed')
    return [
      { at: phase.status === 'in-progress', line: workUnitLine(phase, items, draw, width) },
      ...open.map((step) => ({ at: false, line: `  ${workUnitLine(step, '', draw, width - 2)}` })),
    ]
  })
  const first = Math.max(0, Math.min(lines.findIndex(({ at }) => at) - 1, lines.length - rows))
  return lines.slice(first, first + rows).map(({ line }) => line)
}

function workUnitLine(
  unit: CompiledPhase | CompiledStep,
  items: string,
  { paint }: DrawContext,
  width: number,
): string {
  const { id, status } = unit
  const head = fitText(`${id}${items}`, width - 2)
  const room = width - 4 - head.length
  const text = room < 8 ? '' : fitText(describeWork(unit), room)
  return `${markWork(status, paint)} ${head}  ${paint.dim(text)}`.trimEnd()
}
