import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Io } from '../io.ts'
import { paintFor } from '../paint.ts'
import type { View } from '../view.ts'
import { after, liveState, type LiveState } from './live-state.ts'
import { screen } from './screen.ts'
import { widthOf } from './width.ts'

const redrawMs = 250
const hideCursor = '\u001b[?25l'
const showCursor = '\u001b[?25h'

export type LiveOptions = { readonly progress: () => Progress; readonly agent: string; readonly project: string }

export interface LiveView extends View {
  /** A line below the view: help, an input, an answer to a key. */
  readonly footer: (text: string) => void
}

/** Draws the live view in place and keeps it moving. Everything it changes on the terminal it puts back when it is closed. */
export function liveView(io: Io, { progress, agent, project }: LiveOptions): LiveView {
  const paint = paintFor(io.color)
  let state = liveState(progress(), agent, io.now())
  let drawn: string[] = []
  let below = ''
  let closed = false

  const draw = (which: 'next' | 'last' = 'next') => {
    const size = { columns: Math.max(20, io.columns()), rows: Math.max(6, io.rows()) }
    const current = { ...state, progress: progress() }
    const lines = screen(which === 'last' ? still(current) : current, { paint, size, now: io.now(), project })
    paintOver(io, drawn, below === '' ? lines : [...lines.slice(0, size.rows - 2), below])
    drawn = below === '' ? lines : [...lines.slice(0, size.rows - 2), below]
  }
  const timer = setInterval(() => draw(), redrawMs).unref()
  io.write(hideCursor)
  draw()
  return {
    show(event: SprintEvent) {
      state = after(state, event, io.now())
    },
    footer(text) {
      below = text
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

/** What stays on the terminal: how it ended, with the question if there is one, is told below. */
function still(state: LiveState): LiveState {
  const { humanNeeded, ...progress } = state.progress
  return { ...state, log: [], progress: humanNeeded ? progress : state.progress }
}

/** Moves up over the old lines and writes the new ones; only what differs is sent. */
function paintOver(io: Io, before: readonly string[], now: readonly string[]): void {
  const up = before.length > 1 ? `\u001b[${before.length - 1}A` : ''
  const columns = io.columns()
  const safe = now.map((line) => (widthOf(line) > columns ? line.slice(0, columns) : line))
  const rest = before.length > now.length ? '\u001b[J' : ''
  io.write(`\r${up}${safe.map((line) => `\u001b[2K${line}`).join('\n')}${rest}`)
}
