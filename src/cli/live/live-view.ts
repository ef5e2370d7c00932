import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Io } from '../io/io.ts'
import { createPaint } from '../io/paint.ts'
import type { RunView } from '../view/view.ts'
import type { ScreenSize } from './draw.ts'
import { applyLiveEvent, createLiveState, type LiveViewState } from './live-state.ts'
import { renderOverlay, type OverlayLayer } from './overlay.ts'
import type { RepositoryWatch } from './repository-facts.ts'
import { renderLiveScreen } from './screen.ts'
import { fitText } from '../io/width.ts'

const redrawMs = 250
const hideCursor = '\u001b[?25l'
const showCursor = '\u001b[?25h'
const clearScreen = '\u001b[2J\u001b[H'

export type LiveOptions = {
  readonly progress: () => Progress
  readonly agent: string
  readonly project: string
  readonly repository?: RepositoryWatch | undefined
}

export interface LiveView extends RunView {
  /** The line below the view: help, an input, or the reply to a key. */
  readonly footer: (text: string) => void
  /** Shows this instead of the live view; undefined uncovers it. */
  readonly cover: (layer: OverlayLayer | undefined) => void
}

/** Draws the live view in place and keeps it up to date. Closing it restores everything it changed on the terminal. */
export function createLiveView(io: Io, { progress, agent, project, repository }: LiveOptions): LiveView {
  const paint = createPaint(io.useColor)
  let state = createLiveState(progress(), agent, io.now())
  let drawn: readonly string[] = []
  let drawnIn = { columns: 0, rows: 0 }
  let below = ''
  let covered: OverlayLayer | undefined
  let closed = false
  let hasNews = false
  let drawnSecond = 0

  const draw = (which: 'next' | 'last' = 'next') => {
    const size = { columns: Math.max(20, io.columns()), rows: Math.max(6, io.rows()) }
    const current = { ...state, progress: progress(), repository: repository?.current() }
    const look = { paint, size, now: io.now(), project }
    const screen = () => renderLiveScreen(which === 'last' ? withoutActivity(current) : current, look)
    const overlay = which === 'next' && covered ? renderOverlay(covered, size, paint) : undefined
    const shown = overlay ?? addFooter(screen(), below, size)
    // A terminal that gets narrower rewraps the lines on it, so their positions are unknown.
    const isResized = drawn.length > 0 && (size.columns !== drawnIn.columns || size.rows !== drawnIn.rows)
    io.write(isResized ? `${clearScreen}${repaintLines([], shown)}` : repaintLines(drawn, shown))
    drawn = shown
    drawnIn = size
  }
  // Clocks show seconds, so without events one picture per second is enough.
  const timer = setInterval(() => {
    const second = Math.floor(io.now() / 1000)
    if (hasNews || second !== drawnSecond) draw()
    hasNews = false
    drawnSecond = second
  }, redrawMs).unref()
  io.write(hideCursor)
  draw()
  return {
    show(event: SprintEvent) {
      state = applyLiveEvent(state, event, io.now())
      if (event.type === 'iteration-started' || event.type === 'iteration-ended') repository?.refresh()
      hasNews = true
    },
    footer(text) {
      below = text
      draw()
    },
    cover(layer) {
      covered = layer
      below = ''
      draw()
    },
    close() {
      if (closed) return
      closed = true
      clearInterval(timer)
      below = ''
      draw('last')
      io.write(`\n${showCursor}`)
    },
  }
}

const addFooter = (lines: readonly string[], text: string, { columns, rows }: ScreenSize): readonly string[] =>
  text === '' ? lines : [...lines.slice(0, rows - 2), fitText(text, columns)]

/** What stays on the terminal: no activity, because the run has ended; the summary and the question are printed below it. */
function withoutActivity({ doing: _doing, lastText: _lastText, ...state }: LiveViewState): LiveViewState {
  const { humanNeeded, ...progress } = state.progress
  return { ...state, log: [], progress: humanNeeded ? progress : state.progress }
}

/** Turns the old lines into the new ones, starting at the end of the old ones; unchanged lines are not sent. */
export function repaintLines(before: readonly string[], now: readonly string[]): string {
  const up = before.length > 1 ? `\u001b[${before.length - 1}A` : ''
  const lines = now.map((line, index) => {
    const next = index === 0 ? '' : index < before.length ? '\u001b[1B\r' : '\n'
    return before[index] === line ? next : `${next}\u001b[2K${line}`
  })
  // Clear what a longer picture left below.
  const rest = before.length > now.length ? '\u001b[1B\r\u001b[J\u001b[1A' : ''
  return `\r${up}${lines.join('')}${rest}`
}
