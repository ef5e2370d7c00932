import type { Progress } from '../../contract/progress.ts'
import { linesOf } from '../view/event-lines.ts'
import type { Box, Draw } from './draw.ts'
import type { LiveState } from './live-state.ts'
import { fitPainted } from '../io/width.ts'

/** The last things that have happened, in the words of the plain view; the newest at the bottom. */
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

/** Where iterations run side by side, each line says to which one it belongs. */
const sideOf = (event: LiveState['log'][number], { live }: Progress): string =>
  live.length > 1 && 'iteration' in event && event.type !== 'iteration-started' ? `${event.iteration} │` : ''
