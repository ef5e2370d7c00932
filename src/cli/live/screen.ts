import type { DrawContext } from './draw.ts'
import { fitParts, liveHeadLines } from './head-lines.ts'
import { historyLines } from './history-lines.ts'
import type { LiveViewState } from './live-state.ts'
import { logLines } from './log-lines.ts'
import { nowLines } from './now-lines.ts'
import { padTo } from '../io/width.ts'
import { workLines } from './work-lines.ts'

/** From this width on, the steps are beside the current activity instead of below it. */
const twoColumnsWidth = 90
/** From this width on, the earlier iterations have a column of their own. */
const threeColumnsWidth = 150
/** On a terminal this tall, the log shows the agent's messages. */
const tallRows = 20
/** Fewer log lines are not useful. */
const minLogLines = 3

/** Renders the whole live view as lines that fit the terminal. Pure: the same state gives the same lines. */
export function renderLiveScreen(state: LiveViewState, draw: DrawContext): string[] {
  const { rows } = draw.size
  const head = liveHeadLines(state, draw)
  const keys = keyLines(state, draw)
  const room = rows - 1 - head.length - 1 - keys.length
  if (room < 3) return [...head.filter((line) => line !== ''), ...keys].filter((line) => line !== '').slice(0, rows - 1)
  const { lastText, ...silent } = state
  const body = bodyLines(rows < tallRows && lastText !== undefined ? state : silent, draw, room)
  return [...head, '', ...body, ...logSection(state, draw, room - body.length), ...keys]
}

/** Keys have no effect once the sprint has stopped. */
function keyLines({ progress }: LiveViewState, { paint, size }: DrawContext): string[] {
  if (progress.status !== 'in-progress' && progress.status !== 'parked') return []
  const all = keyHints.join('   ')
  // On a narrow terminal, the help comes first: it names the others.
  const shown = all.length <= size.columns ? all : fitParts(['? help', ...keyHints], size.columns)
  return ['', paint.dim(shown)]
}

const keyHints = ['Enter open', 'p pause', 's stop', 't message', 'l transcript', 'd diff', '? help']

function bodyLines(state: LiveViewState, draw: DrawContext, room: number): string[] {
  const { columns } = draw.size
  const most = Math.max(3, Math.min(room, Math.ceil(room * 0.6)))
  if (columns < twoColumnsWidth) {
    const now = nowLines(state, draw, columns).slice(0, room)
    const rows = most - now.length - 1
    return rows < 1 ? now : [...now, '', ...workLines(state.progress, draw, { rows, width: columns })]
  }
  const isWide = columns >= threeColumnsWidth
  const width = Math.floor(columns * (isWide ? 0.34 : 0.45))
  const work = workLines(state.progress, draw, { rows: most, width: width - 3 })
  if (!isWide) return joinColumns([work, nowLines(state, draw, columns - width).slice(0, room)], width)
  const history = historyLines(state.progress, draw, { rows: most, width: columns - 2 * width })
  return joinColumns([work, nowLines(state, draw, width - 3).slice(0, room), history], width)
}

/** Every column but the last is padded to this width. */
function joinColumns(columns: readonly (readonly string[])[], width: number): string[] {
  const rows = Math.max(...columns.map((lines) => lines.length))
  return Array.from({ length: rows }, (_, row) =>
    columns
      .map((lines, column) => (column === columns.length - 1 ? (lines[row] ?? '') : padTo(lines[row] ?? '', width)))
      .join('')
      .trimEnd(),
  )
}

/** The rest of the screen shows recent events. */
function logSection(state: LiveViewState, draw: DrawContext, room: number): string[] {
  const { columns } = draw.size
  if (room - 2 < minLogLines) return []
  const lines = logLines(state, draw, { rows: room - 2, width: columns })
  return lines.length === 0 ? [] : ['', draw.paint.dim('─'.repeat(columns)), ...lines]
}
