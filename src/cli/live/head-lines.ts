import {
  unlimitedIterations,
  type IterationRecord,
  type LiveIteration,
  type Progress,
} from '../../contract/progress.ts'
import { toOneLine, toShortGoal } from '../../words/text.ts'
import type { TerminalPaint } from '../io/paint.ts'
import { formatAge, formatDurationShort, formatStopwatch } from '../../words/durations.ts'
import { formatCount, formatTokens, pluralize } from '../../words/counts.ts'
import { formatCap, formatCost } from '../../words/money.ts'
import { statusWords } from '../../words/status.ts'
import { verdictMarks, type VerdictTone } from '../../words/verdict.ts'
import type { DrawContext } from './draw.ts'
import type { LiveViewState } from './live-state.ts'
import { joinEnds, fitText, measureWidth } from '../io/width.ts'

/** The head of the view: sprint, state with its age, goal, counters, and the strip of iterations. */
export function liveHeadLines(state: LiveViewState, draw: DrawContext): string[] {
  return [
    titleLine(state, draw),
    goalLine(state, draw),
    '',
    counterLine(state, draw),
    ...factLines(state, draw),
    iterationStripLine(state, draw),
  ]
}

/** On a terminal with fewer rows, the work is worth more than the facts. */
const factRows = 20

/** Agent and model, branch, changes so far, the size of the agent's context, and tokens. */
function factLines(state: LiveViewState, { paint, size }: DrawContext): string[] {
  const { repository, contextTokens, progress } = state
  const { usage } = progress.stats
  const { branch, files = 0, added = 0, removed = 0 } = repository ?? {}
  const parts = [
    agentText(state),
    ...(repository ? [`${paint.dim('branch')} ${toOneLine(branch ?? 'detached HEAD')}`] : []),
    ...(files > 0
      ? [`${paint.green(`+${added}`)} ${paint.red(`−${removed}`)} ${paint.dim(`in ${pluralize(files, 'file')}`)}`]
      : []),
    ...(contextTokens === undefined ? [] : [`${paint.dim('context')} ${formatCount(contextTokens)}`]),
    ...(usage.inputTokens + usage.outputTokens > 0 ? [`${paint.dim('tokens')} ${formatTokens(usage)}`] : []),
  ]
  return size.rows < factRows ? [] : [fitParts(parts, size.columns)]
}

/** `claude opus` */
const agentText = ({ agent, progress, model = progress.model }: LiveViewState): string =>
  [...new Set([agent, progress.live[0]?.model ?? model])].filter((part) => part !== undefined).join(' ')

function titleLine({ progress, lastEventAt, waitingUntil }: LiveViewState, { paint, size, now }: DrawContext): string {
  const hasAge = progress.status === 'in-progress' && size.columns >= 60
  const age = hasAge ? ` · last event ${formatAge(now - lastEventAt)} ago` : ''
  const text = describeLiveState(progress, now, waitingUntil)
  const state = `${statusDot(progress, paint)} ${text}${paint.dim(age)}`
  const room = size.columns - text.length - age.length - 11
  const name = room < 6 ? '' : `  ${fitText(progress.sprintId, room)}`
  return joinEnds(`${paint.bold('ralph')}${name}`, state, size.columns)
}

const goalLine = ({ progress: { goal } }: LiveViewState, { size }: DrawContext): string =>
  fitText(toShortGoal(goal), size.columns)

const statusDot = ({ status }: Progress, paint: TerminalPaint): string => {
  if (status === 'in-progress') return paint.green('●')
  const { tone } = statusWords[status]
  if (tone === 'ok') return paint.green('✓')
  return tone === 'bad' ? paint.red('■') : paint.yellow('■')
}

function describeLiveState({ status, parked, stopRequested }: Progress, now: number, waitingUntil = 0): string {
  if (status === 'in-progress' && stopRequested)
    return `${stopRequested.as === 'paused' ? 'pausing' : 'stopping'} after this ${stopRequested.when}`
  if (status === 'in-progress' && waitingUntil > now) return `retries in ${formatStopwatch(waitingUntil - now)}`
  if (status === 'in-progress') return 'running'
  if (status === 'parked' && parked) return `parked, ${formatDurationShort(parked.until - now)} left`
  return status === 'completed' ? status : statusWords[status].ending
}

function counterLine(state: LiveViewState, { paint, size, now }: DrawContext): string {
  const { progress, waitingUntil = 0 } = state
  const { stats, live, iterations } = progress
  const [first] = live
  const limit = stats.maxIterations < unlimitedIterations ? `/${stats.maxIterations}` : ''
  const isAtWork = progress.status === 'in-progress' && waitingUntil <= now
  const sinceUpdateMs = isAtWork ? Math.max(0, now - (stats.updatedAt ?? now)) : 0
  const iteration = `iteration ${stats.currentIteration}${limit}`
  const parts = [
    first
      ? [
          `${iteration} ${paint.cyan(first.mode)} ${describeDuration(first, iterations, now)}`,
          `${iteration} ${formatStopwatch(now - first.startedAt)}`,
        ]
      : iteration,
    budgetTexts(progress, paint),
    `working ${formatStopwatch(stats.activeMs + sinceUpdateMs)}`,
    ...(size.rows < factRows ? [agentText(state)] : []),
  ]
  return fitParts(parts, size.columns)
}

/** The duration of the current iteration, and the median of the earlier ones. */
function describeDuration(
  { startedAt, mode }: LiveIteration,
  iterations: readonly IterationRecord[],
  now: number,
): string {
  const before = iterations.filter((record) => record.mode === mode).map((record) => record.endedAt - record.startedAt)
  const median = before.toSorted((a, b) => a - b)[Math.floor(before.length / 2)]
  return `${formatStopwatch(now - startedAt)}${before.length < 2 || median === undefined ? '' : ` (usually ${formatStopwatch(median)})`}`
}

/** With a bar, or without one where it does not fit. */
function budgetTexts({ stats, limits, runLimits }: Progress, paint: TerminalPaint): readonly string[] {
  const spent = formatCost({ costUsd: stats.costUsd })
  const limit = runLimits?.usd ?? limits.usd
  if (limit === 'off' || stats.costUsd === null) return [spent]
  const text = `${spent} of ${formatCap(limit)}`
  const filled = Math.min(10, Math.round((stats.costUsd / limit) * 10))
  const color = filled > 8 ? paint.red : paint.green
  return [`${text} ▕${color('█'.repeat(filled))}${paint.dim('░'.repeat(10 - filled))}▏`, text]
}

/** Drops whole parts only: a truncated number would be wrong. Of several versions of a part, takes the first that fits. */
export function fitParts(parts: readonly (string | readonly string[])[], width: number): string {
  return parts.reduce<string>((line, part) => {
    const versions = typeof part === 'string' ? [part] : part
    const longer = versions.map((version) => (line === '' ? version : `${line}   ${version}`))
    return longer.find((text) => measureWidth(text) <= width) ?? line
  }, '')
}

const toneColors = { ok: 'green', bad: 'red', warn: 'yellow' } as const satisfies Record<
  VerdictTone,
  keyof TerminalPaint
>

/** The last iterations with their verdicts, as many as fit beside the last notice. */
function iterationStripLine({ progress, notice = '' }: LiveViewState, { paint, size }: DrawContext): string {
  const room = Math.max(10, Math.floor(size.columns * (notice === '' ? 1 : 0.5)))
  const cells = [
    // Each cell takes at least three columns; painting more would be wasted.
    ...progress.iterations.slice(-Math.ceil(room / 3)).map(({ number, verdict }) => {
      const { mark, tone } = verdictMarks[verdict]
      return { width: String(number).length + 2, text: `${number}${paint[toneColors[tone]](mark)}` }
    }),
    ...progress.live.map(({ number }) => ({ width: String(number).length + 2, text: `${number}${paint.cyan('●')}` })),
  ]
  let used = 0
  const shown = cells.toReversed().filter(({ width }) => (used += width) <= room)
  const line = shown
    .toReversed()
    .map(({ text }) => text)
    .join(' ')
  const left = size.columns - measureWidth(line) - 4
  return notice === '' || left < 10 ? line : `${line}    ${paint.dim(fitText(notice, left))}`
}
