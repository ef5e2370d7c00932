import type { IterationRecord, Progress, Step } from '../../contract/progress.ts'
import { unlimitedIterations } from '../../contract/progress.ts'
import { humanDuration, oneLine, type Paint } from '../paint.ts'
import type { LiveState } from './live-state.ts'
import { ends, fit, padTo, widthOf } from './width.ts'

export type Size = { readonly columns: number; readonly rows: number }
export type Draw = { readonly paint: Paint; readonly size: Size; readonly now: number; readonly project: string }

/** From this width on the steps stand beside what is going on, else above it. */
const twoColumns = 90

/** The whole live view as lines, none wider than the terminal and never more than fit on it. Pure: the same state looks the same. */
export function screen(state: LiveState, draw: Draw): string[] {
  const { columns, rows } = draw.size
  const head = [...headLines(state, draw), '', counters(state, draw), strip(state, draw)]
  const keys = draw.paint.dim(fit('p pause   s stop   t tell   l transcript   d diff   ? help', columns))
  const room = rows - head.length - 4
  if (room < 3) return [...head.filter((line) => line !== ''), keys].slice(0, rows - 1)
  const now = nowLines(state, draw)
  if (columns < twoColumns) {
    const steps = stepLines(state.progress, draw, { rows: Math.max(1, room - now.length - 1), width: columns })
    return [...head, '', ...now, '', ...steps, '', keys].slice(0, rows - 1)
  }
  const width = Math.min(60, Math.floor(columns * 0.42))
  const steps = stepLines(state.progress, draw, { rows: room, width: width - 3 })
  const lines = Array.from({ length: Math.max(steps.length, now.length) }, (_, index) =>
    `${padTo(steps[index] ?? '', width)}${now[index] ?? ''}`.trimEnd(),
  )
  return [...head, '', ...lines.slice(0, room), '', keys]
}

function headLines({ progress, lastEventAt }: LiveState, { paint, size, now }: Draw): string[] {
  const age = humanAge(now - lastEventAt)
  const state = `${dot(progress, paint)} ${stateText(progress, now)} · last event ${age} ago`
  const title = `${paint.bold('ralph')}  ${fit(progress.sprintId, Math.max(10, size.columns - 50))}`
  return [ends(title, state, size.columns), fit(oneLine(progress.goal), size.columns)]
}

const dot = ({ status }: Progress, paint: Paint): string => {
  if (status === 'in-progress') return paint.green('●')
  return status === 'completed' ? paint.green('✓') : paint.yellow('●')
}

function stateText({ status, parked }: Progress, now: number): string {
  if (status === 'in-progress') return 'running'
  if (status === 'parked' && parked) return `parked, ${humanAge(parked.until - now)} left`
  return status
}

function counters({ progress, agent }: LiveState, { paint, size }: Draw): string {
  const { stats, live, model } = progress
  const limit = stats.maxIterations < unlimitedIterations ? `/${stats.maxIterations}` : ''
  const parts = [
    `iteration ${stats.currentIteration}${limit}${live[0] ? ` ${paint.cyan(live[0].mode)}` : ''}`,
    humanDuration(stats.activeMs),
    money(progress, paint),
    [agent, live[0]?.model ?? model].filter((part) => part !== undefined).join(' '),
  ]
  return fitParts(parts, size.columns)
}

function money({ stats, limits, runLimits }: Progress, paint: Paint): string {
  const spent = stats.costUsd === null ? 'unpriced' : `$${stats.costUsd.toFixed(2)}`
  const limit = runLimits?.usd ?? limits.usd
  if (limit === 'off' || stats.costUsd === null) return spent
  const filled = Math.min(10, Math.round((stats.costUsd / limit) * 10))
  return `${spent} of $${limit} ▕${paint.green('█'.repeat(filled))}${paint.dim('░'.repeat(10 - filled))}▏`
}

/** Whole parts only: half a number would be a wrong one. */
function fitParts(parts: readonly string[], width: number): string {
  return parts.reduce((line, part) => {
    const longer = line === '' ? part : `${line}   ${part}`
    return widthOf(longer) <= width ? longer : line
  }, '')
}

const marks: Readonly<Record<IterationRecord['verdict'], readonly [string, keyof Paint]>> = {
  accepted: ['✓', 'green'],
  completed: ['✓', 'green'],
  continue: ['✓', 'green'],
  refused: ['✗', 'red'],
  premature: ['~', 'yellow'],
  'needs-human': ['?', 'yellow'],
  malformed: ['~', 'yellow'],
  failed: ['✗', 'red'],
  interrupted: ['■', 'yellow'],
}

/** The last iterations with their verdicts, as many as fit beside the last notice. */
function strip({ progress, notice = '' }: LiveState, { paint, size }: Draw): string {
  const done = progress.iterations.map(({ number, verdict }) => {
    const [mark, color] = marks[verdict]
    return `${number}${paint[color](mark)}`
  })
  const all = [...done, ...progress.live.map(({ number }) => `${number}${paint.cyan('●')}`)]
  const room = Math.max(10, Math.floor(size.columns * (notice === '' ? 1 : 0.5)))
  let used = 0
  const shown = all.toReversed().filter((part) => (used += widthOf(part) + 1) <= room)
  const line = shown.toReversed().join(' ')
  const left = size.columns - widthOf(line) - 4
  return notice === '' || left < 10 ? line : `${line}    ${paint.dim(fit(notice, left))}`
}

type Box = { readonly rows: number; readonly width: number }

/** The last completed steps, the current one, the next ones; what does not fit is counted. */
function stepLines({ dynamicSteps, live, stats }: Progress, { paint }: Draw, { rows, width }: Box): string[] {
  const current = live[0]?.step
  const line = (mark: string, { prompt }: Step) => `${mark} ${fit(oneLine(prompt), width - 2)}`
  const pending = dynamicSteps.filter(({ status }) => status === 'pending')
  const completed = dynamicSteps.filter(({ status }) => status === 'completed')
  const shownDone = completed.slice(-Math.max(0, Math.min(3, rows - 2)))
  const room = Math.max(1, rows - shownDone.length - 1)
  const next = pending.slice(0, room)
  const hidden = [
    ...(pending.length > next.length ? [`+ ${pending.length - next.length} more`] : []),
    ...(stats.completedSteps > shownDone.length ? [`+ ${stats.completedSteps - shownDone.length} done`] : []),
  ]
  if (dynamicSteps.length === 0) return [paint.dim('no steps yet')]
  return [
    ...shownDone.map((step) => line(paint.green('✓'), step)),
    ...next.map((step) => line(step.id === current ? paint.cyan('●') : '○', step)),
    ...(hidden.length > 0 ? [paint.dim(hidden.join(', '))] : []),
  ].slice(0, rows)
}

/** What is going on now: the tool, what the agent says, the checks, the hooks, the question. */
function nowLines(state: LiveState, draw: Draw): string[] {
  const { progress, doing, said, waitingUntil } = state
  const { paint, now, project } = draw
  const width = nowWidth(draw)
  const label = (name: string, text: string) => `${paint.dim(padTo(name, 11))}${fit(text, width - 11)}`
  const { humanNeeded } = progress
  const waiting = waitingUntil !== undefined && waitingUntil > now
  return [
    ...(humanNeeded
      ? [
          paint.yellow(`? ${fit(oneLine(humanNeeded.reason), width - 2)}`),
          `  ${fit(oneLine(humanNeeded.details), width - 2)}`,
        ]
      : []),
    ...(doing ? [label('now', `${doing.text.replaceAll(`${project}/`, '')}  ${clock(now - doing.since)}`)] : []),
    ...(waiting ? [label('waiting', `next attempt in ${humanAge(waitingUntil - now)}`)] : []),
    ...(said === undefined ? [] : [label('', `“${said}”`)]),
    ...checkLine(state, paint, width),
    ...hookLine(progress, paint, width),
  ]
}

const nowWidth = ({ size: { columns } }: Draw): number =>
  columns < twoColumns ? columns : columns - Math.min(60, Math.floor(columns * 0.42))

function checkLine({ progress, checks }: LiveState, paint: Paint, width: number): string[] {
  const names = (progress.doneWhen ?? []).map(({ name, run }) => name ?? run)
  if (names.length === 0) return []
  const before = new Map((progress.baseline ?? []).map(({ name, passed }) => [name, passed]))
  const marked = names.map((name) => {
    const state = checks.get(name)
    if (state === 'running') return `${paint.cyan('●')} ${name}`
    const passed = state === undefined ? before.get(name) : state === 'passed'
    if (passed === undefined) return `○ ${name}`
    return `${passed ? paint.green('✓') : paint.red('✗')} ${name}`
  })
  return [`${paint.dim(padTo('done when', 11))}${fitParts(marked, width - 11)}`]
}

function hookLine({ hookTasks, live, perIterationHooks }: Progress, paint: Paint, width: number): string[] {
  if (!perIterationHooks.some(({ enabled }) => enabled)) return []
  const number = live[0]?.number ?? hookTasks.at(-1)?.iteration
  const shown = hookTasks.filter(({ iteration, status }) => iteration === number || status === 'running').slice(-6)
  const look = { running: paint.cyan('●'), completed: paint.green('✓'), failed: paint.red('✗') }
  const marked = shown.map(({ hookId, status }) => `${hookId} ${look[status]}`)
  return [`${paint.dim(padTo('hooks', 11))}${fitParts(marked, width - 11)}`.trimEnd()]
}

const clock = (ms: number): string =>
  `${Math.floor(ms / 60_000)}:${String(Math.floor((ms / 1000) % 60)).padStart(2, '0')}`

function humanAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
