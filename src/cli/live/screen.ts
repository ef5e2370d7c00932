import type { Draw } from './draw.ts'
import { headLines } from './head-lines.ts'
import type { LiveState } from './live-state.ts'
import { logLines } from './log-lines.ts'
import { nowLines } from './now-lines.ts'
import { fit, padTo } from '../io/width.ts'
import { workLines } from './work-lines.ts'

/** From this width on, the steps are beside the current activity instead of below it. */
const twoColumns = 90
/** On a terminal this tall, the log shows the agent's messages. */
const tall = 20
/** Fewer log lines are not useful. */
const fewestLogLines = 3

/** Renders the whole live view as lines that fit the terminal. Pure: the same state gives the same lines. */
export function screen(state: LiveState, draw: Draw): string[] {
  const { rows } = draw.size
  const head = headLines(state, draw)
  const keys = keyLines(state, draw)
  const room = rows - 1 - head.length - 1 - keys.length
  if (room < 3) return [...head.filter((line) => line !== ''), ...keys].filter((line) => line !== '').slice(0, rows - 1)
  const { said, ...silent } = state
  const body = bodyLines(rows < tall && said !== undefined ? state : silent, draw, room)
  return [...head, '', ...body, ...logPart(state, draw, room - body.length), ...keys]
}

/** Keys have no effect once the sprint has stopped. */
function keyLines({ progress }: LiveState, { paint, size }: Draw): string[] {
  if (progress.status !== 'in-progress' && progress.status !== 'parked') return []
  return ['', paint.dim(fit('p pause   s stop   t message   l transcript   d diff   ? help', size.columns))]
}

function bodyLines(state: LiveState, draw: Draw, room: number): string[] {
  const { columns } = draw.size
  const most = Math.max(3, Math.min(room, Math.ceil(room * 0.6)))
  if (columns < twoColumns) {
    const now = nowLines(state, draw, columns).slice(0, room)
    const rows = most - now.length - 1
    return rows < 1 ? now : [...now, '', ...workLines(state.progress, draw, { rows, width: columns })]
  }
  const width = Math.min(72, Math.floor(columns * 0.45))
  const work = workLines(state.progress, draw, { rows: most, width: width - 3 })
  const now = nowLines(state, draw, columns - width).slice(0, room)
  return Array.from({ length: Math.max(work.length, now.length) }, (_, index) =>
    `${padTo(work[index] ?? '', width)}${now[index] ?? ''}`.trimEnd(),
  )
}

/** The rest of the screen shows recent events. */
function logPart(state: LiveState, draw: Draw, room: number): string[] {
  const { columns } = draw.size
  if (room - 2 < fewestLogLines) return []
  const lines = logLines(state, draw, { rows: room - 2, width: columns })
  return lines.length === 0 ? [] : ['', draw.paint.dim('─'.repeat(columns)), ...lines]
}
