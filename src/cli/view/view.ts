import type { SprintEvent } from '../../contract/events.ts'
import { eventLines, toolText, type EventLineLook } from './event-lines.ts'
import type { Io } from '../io/io.ts'
import { clipLine } from '../../words/text.ts'
import { formatHumanDuration } from '../../words/durations.ts'
import { createPaint } from '../io/paint.ts'

/** Shows a run as it happens. */
export interface RunView {
  readonly show: (event: SprintEvent) => void
  readonly close: () => void
}

/** One JSON object per line and event, for programs. */
export const createJsonView = (io: Io): RunView => ({
  show: (event) => io.print(JSON.stringify({ at: new Date(io.now()).toISOString(), ...event })),
  close: () => {},
})

/** Prints lines as events happen; on a terminal also a moving line for the current activity. */
export function createPlainView(io: Io, { steps, project }: Pick<EventLineLook, 'steps' | 'project'>): RunView {
  const paint = createPaint(io.useColor)
  const status = createStatusLine(io)
  const live = new Set<number>()
  return {
    show(event) {
      const look = { paint, steps, project, width: Math.max(40, io.columns()) }
      const doing = activityAfter(event, look)
      if (doing !== undefined) status.set(doing, event.type === 'attempt-failed' ? event.retryInMs : undefined)
      const lines = eventLines(event, look)
      if (lines.length > 0) status.clear()
      const side = parallelPrefix(event, live)
      for (const line of lines) io.print(side === '' ? line : `${paint.dim(side)}${line}`)
    },
    close: status.stop,
  }
}

/** When iterations run in parallel, each line names its iteration. */
function parallelPrefix(event: SprintEvent, live: Set<number>): string {
  if (!('iteration' in event)) return ''
  if (event.type === 'iteration-started') {
    live.add(event.iteration)
    return ''
  }
  const side = live.size > 1 && live.has(event.iteration) ? `${event.iteration} │` : ''
  if (event.type === 'iteration-ended') live.delete(event.iteration)
  return side
}

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** The moving line: the current activity with its elapsed or remaining time. An empty text hides it. */
function createStatusLine(io: Io) {
  const { dim } = createPaint(io.useColor)
  let doing = ''
  let since = performance.now()
  let takesMs: number | undefined
  let shown = false
  let frame = 0
  const clear = () => {
    if (shown) io.write('\r\u001b[2K')
    shown = false
  }
  const draw = () => {
    if (doing === '') return
    const passed = performance.now() - since
    const time =
      takesMs === undefined ? formatHumanDuration(passed) : `in ${formatHumanDuration(Math.max(0, takesMs - passed))}`
    const text = `${spinner[frame++ % spinner.length]} ${doing}  ${time}`
    io.write(`\r\u001b[2K  ${dim(clipLine(text, io.columns() - 4))}`)
    shown = true
  }
  const timer = io.canRedraw ? setInterval(draw, 120).unref() : undefined
  return {
    clear,
    set(text: string, expectedMs?: number) {
      doing = text
      since = performance.now()
      takesMs = expectedMs
      if (doing === '') clear()
    },
    stop: () => {
      clearInterval(timer)
      clear()
    },
  }
}

/** The activity after this event; empty: none; undefined: unchanged. */
function activityAfter(event: SprintEvent, { project, width }: EventLineLook): string | undefined {
  if (event.type === 'attempt-started') return `${event.agent} is working`
  if (event.type === 'check-started') return `checking ${event.name}`
  if (event.type === 'hook-started' && !event.parallel) return `hook ${event.hook}`
  if (event.type === 'attempt-failed') return event.retryInMs === undefined ? '' : 'waiting for the next attempt'
  if (event.type === 'iteration-ended' || event.type === 'sprint-rested') return ''
  if (event.type !== 'agent') return undefined
  if (event.event.kind === 'tool' && event.event.phase === 'start') return toolText(event.event, project, width)
  return event.event.kind === 'terminal' ? '' : undefined
}
