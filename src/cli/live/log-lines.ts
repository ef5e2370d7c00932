import type { Progress } from '../../contract/progress.ts'
import { linesOf } from '../view/event-lines.ts'
import type { Box, Draw } from './draw.ts'
import type { LiveState } from './live-state.ts'
import { fitPainted } from '../io/width.ts'

/** Recent events in the words of the plain view, newest at the bottom. */
export function logLines({ log, progress }: LiveState, { paint, project }: Draw, { rows, width }: Box): string[] {
  const steps = (id: string) => progress.dynamicSteps.find((step) => step.id === id)?.prompt
  const look = { paint, project, steps, width }
  const lines: string[] = []
  for (const event of log.toReversed()) {
    if (lines.length >= rows) break
    const side = sideOf(event, progress)
    const own = linesOf(event, look).filter((line) => line !== '')
    lines.unshift(...own.map((line) => fitPainted(side === '' ? line : `${paint.dim(side)}${line}`, width)))
  }
  return lines.slice(-rows)
}

/** When iterations run in parallel, each line names its iteration. */
const sideOf = (event: LiveState['log'][number], { live }: Progress): string =>
  live.length > 1 && 'iteration' in event && event.type !== 'iteration-started' ? `${event.iteration} │` : ''
