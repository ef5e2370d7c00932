import type { Progress } from '../../contract/progress.ts'
import { toOneLine } from '../../words/text.ts'
import type { TerminalPaint } from '../io/paint.ts'
import { formatStopwatch, formatDurationShort } from '../../words/durations.ts'
import type { DrawContext } from './draw.ts'
import { fitParts } from './head-lines.ts'
import { checkHistory } from './history-lines.ts'
import type { LiveViewState } from './live-state.ts'
import { joinEnds, fitPainted, fitText, measureWidth, padTo, wrapText } from '../io/width.ts'

const labelWidth = 11

/** What is happening now: the question, the tool, the agent's message, the wait, the checks, the hooks. */
export function nowLines(state: LiveViewState, { paint, now, project }: DrawContext, width: number): string[] {
  const { progress, doing, lastText, waitingUntil } = state
  const room = width - labelWidth
  const label = (name: string, text: string) => `${paint.dim(padTo(name, labelWidth))}${text}`
  const isWaiting = waitingUntil !== undefined && waitingUntil > now
  const at = isWaiting ? new Date(waitingUntil).toTimeString().slice(0, 5) : ''
  return [
    ...liveQuestionLines(progress, paint, width),
    ...(doing
      ? [
          label(
            'now',
            joinEnds(
              fitText(doing.text.replaceAll(`${project}/`, ''), room - 8),
              formatStopwatch(now - doing.since),
              Math.min(room, 60),
            ),
          ),
        ]
      : []),
    ...(isWaiting
      ? [label('waiting', fitText(`next attempt in ${formatDurationShort(waitingUntil - now)}, at ${at}`, room))]
      : []),
    ...(lastText === undefined ? [] : [label('', paint.dim(fitText(`“${lastText}”`, room)))]),
    ...checkLine(state, label, paint, room),
    ...hookLine(progress, label, paint, room),
  ]
}

function liveQuestionLines({ humanNeeded }: Progress, paint: TerminalPaint, width: number): string[] {
  if (!humanNeeded) return []
  const { reason, details, options = [] } = humanNeeded
  return [
    ...wrapText(`? ${toOneLine(reason)}`, width, 2).map((line) => paint.yellow(line)),
    ...wrapText(toOneLine(details), width - 2, 3).map((line) => `  ${line}`),
    ...options.map((option, index) => `  ${index + 1}. ${fitText(toOneLine(option), width - 6)}`),
  ]
}

type LabelLine = (name: string, text: string) => string

function checkLine(
  { progress, checks }: LiveViewState,
  label: LabelLine,
  paint: TerminalPaint,
  room: number,
): string[] {
  const names = (progress.doneWhen ?? []).map(({ name, run }) => name ?? run)
  if (names.length === 0) return []
  const before = new Map((progress.baseline ?? []).map(({ name, passed }) => [name, passed]))
  const marked = names.map((name) => {
    const history = checkHistory(progress, name, paint)
    const plain = fitText(toOneLine(name), Math.max(8, room - 2 - measureWidth(history) - 1))
    const shown = history === '' ? plain : `${plain} ${history}`
    const state = checks.get(name)
    if (state === 'running') return `${paint.cyan('●')} ${shown}`
    if (state !== undefined) return `${state === 'passed' ? paint.green('✓') : paint.red('✗')} ${shown}`
    const wasGreen = before.get(name)
    return wasGreen === undefined
      ? `○ ${shown}`
      : `○ ${shown} ${paint.dim(wasGreen ? '(✓ at the start)' : '(✗ at the start)')}`
  })
  const line = fitParts(marked, room)
  const fits = marked.every((mark) => line.includes(mark))
  return fits
    ? [label('done when', line)]
    : marked.map((mark, index) => label(index === 0 ? 'done when' : '', fitPainted(mark, room)))
}

function hookLine(
  { hookTasks, live, perIterationHooks }: Progress,
  label: LabelLine,
  paint: TerminalPaint,
  room: number,
): string[] {
  if (!perIterationHooks.some(({ enabled }) => enabled)) return []
  const number = live[0]?.number ?? hookTasks.at(-1)?.iteration
  const ofThis = hookTasks.filter(({ iteration, status }) => iteration === number || status === 'running')
  const shown = (
    ofThis.length > 0 ? ofThis : hookTasks.filter(({ iteration }) => iteration === (number ?? 0) - 1)
  ).slice(-6)
  if (shown.length === 0) return []
  const look = { running: paint.cyan('●'), completed: paint.green('✓'), failed: paint.red('✗') }
  return [
    label(
      'hooks',
      fitParts(
        shown.map(({ hookId, status }) => `${look[status]} ${hookId}`),
        room,
      ),
    ),
  ]
}
