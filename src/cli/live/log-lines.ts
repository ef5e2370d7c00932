import type { Progress } from '../../contract/progress.ts'
import { eventLines } from '../view/event-lines.ts'
import type { ScreenBox, DrawContext } from './draw.ts'
import type { LiveViewState } from './live-state.ts'
import { fitPainted, wrapPainted } from '../io/width.ts'

/** Recent events in the words of the plain view, newest at the bottom. */
export function logLines(
  { log, progress }: LiveViewState,
  { paint, project }: DrawContext,
  { rows, width }: ScreenBox,
): string[] {
  const steps = (id: string) => progress.dynamicSteps.find((step) => step.id === id)?.prompt
  const look = { paint, project, steps, width }
  const lines: string[] = []
  for (const event of log.toReversed()) {
    if (lines.length >= rows) break
    const side = parallelIteration(event, progress)
    const own = eventLines(event, look).filter((line) => line !== '')
    const shown = own.map((line) => (side === '' ? line : `${paint.dim(side)}${line}`))
    // What Ralph itself says is worth its rows: the end of a warning is mostly what to do.
    const isNote = event.type === 'note'
    lines.unshift(...shown.flatMap((line) => (isNote ? wrapPainted(line, width, 4) : [fitPainted(line, width)])))
  }
  return lines.slice(-rows)
}

/** When iterations run in parallel, each line names its iteration. */
const parallelIteration = (event: LiveViewState['log'][number], { live }: Progress): string =>
  live.length > 1 && 'iteration' in event && event.type !== 'iteration-started' ? `${event.iteration} │` : ''
