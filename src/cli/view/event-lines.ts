import type { AgentEvent, SprintEvent } from '../../contract/events.ts'
import {
  describeExit,
  describeRetry,
  failureWords,
  spokenText,
  userTitle,
  workName,
} from '../../words/event-sentences.ts'
import { formatDollars } from '../../words/money.ts'
import { clipLine, toOneLine } from '../../words/text.ts'
import { stripControlSequences, type TerminalPaint } from '../io/paint.ts'
import { formatHumanDuration } from '../../words/durations.ts'

export type EventLineLook = {
  readonly paint: TerminalPaint
  /** The text of a step, by its id. */
  readonly steps: (id: string) => string | undefined
  readonly width: number
  /** The project's folder, removed from the start of paths. */
  readonly project: string
}

type LinesByEvent = {
  readonly [K in SprintEvent['type']]: (event: Extract<SprintEvent, { type: K }>, look: EventLineLook) => string[]
}

/** The permanent lines that describe an event. */
const linesByEvent: LinesByEvent = {
  'sprint-started': ({ resumed }, { paint }) => (resumed ? [paint.dim('resumed')] : []),
  note: ({ level, text }, { paint }) => [level === 'warning' ? paint.yellow(`! ${text}`) : paint.dim(text)],
  'iteration-started': ({ iteration, mode, step, stepPrompt = '', work }, { paint, width }) => {
    const prompt = clipLine(toOneLine(stepPrompt), width - 40)
    const what = step === undefined ? paint.cyan(mode) : `${paint.cyan(mode)}  ${step}  ${prompt}`
    const fixes = work?.gateFix === undefined ? '' : '  its gate'
    const shown = work ? `${paint.cyan(workName(work))}${fixes}  ${prompt}` : what
    return ['', `${paint.bold(`iteration ${iteration}`)}  ${shown}`.trimEnd()]
  },
  'attempt-started': ({ attempt }, { paint }) => (attempt > 1 ? [paint.dim(`  attempt ${attempt}`)] : []),
  agent: ({ event }, look) => agentLines(event, look).map((line) => `  ${line}`),
  'attempt-failed': ({ class: failure, reason, retryInMs }, { paint }) => {
    const retry = retryInMs === undefined ? '' : `; next attempt in ${formatHumanDuration(retryInMs)}`
    return [paint.yellow(`  ${failureWords(failure)}: ${toOneLine(reason)}${retry}`)]
  },
  'steps-changed': ({ added, completed }, look) => [
    ...completed.map((id) => `  ${look.paint.green('✓')} ${stepLine(id, look)}`),
    ...added.map((id) => `  ${look.paint.blue('+')} ${stepLine(id, look)}`),
  ],
  'report-rejected': ({ reasons }, { paint }) => reasons.map((reason) => paint.yellow(`  ! ${toOneLine(reason)}`)),
  'claim-made': ({ summary }, { paint, width }) => [
    `  ${paint.magenta('agent claims done:')} ${clipLine(toOneLine(summary), width - 22)}`,
  ],
  'check-started': () => [],
  'check-ended': ({ iteration, result }, look) => {
    const { name, passed, exitCode, reason, durationMs, output } = result
    const { paint, width } = look
    const why = describeExit({ error: reason, exitCode })
    if (iteration === 0) return [paint.dim(`before     ${name} ${passed ? '✓ passes' : `✗ fails (${why})`}`)]
    const how = passed ? paint.green('✓ passed') : paint.red(`✗ ${why}`)
    const tail = passed ? [] : tellingLines(output).map((line) => paint.dim(`    │ ${clipLine(line, width - 8)}`))
    return [`  check ${paint.bold(name)}  ${how}  ${paint.dim(formatHumanDuration(durationMs))}`, ...tail]
  },
  'claim-refused': ({ by, reason }, { paint, width }) => [
    `  ${paint.red(`refused by ${by.join(', ')}`)}`,
    ...(reason === '' ? [] : [paint.dim(`    ${clipLine(toOneLine(reason), 3 * width)}`)]),
  ],
  'claim-accepted': ({ by }, { paint }) => [
    paint.green(by.length > 0 ? `  accepted by ${by.join(', ')}` : '  accepted, unchecked: the sprint has no check'),
  ],
  'gate-started': () => [],
  'gate-ended': ({ work, passed, attempts, of, exitCode, error, output }, { paint, width }) => {
    const how = passed ? paint.green('✓ passed') : paint.red(`✗ ${describeExit({ error, exitCode })}`)
    const tail = passed ? [] : tellingLines(output).map((line) => paint.dim(`    │ ${clipLine(line, width - 8)}`))
    return [`  gate of ${paint.bold(workName(work))}  ${how}  ${paint.dim(`run ${attempts} of ${of}`)}`, ...tail]
  },
  'work-ended': ({ work, status, text = '' }, { paint, width }) => {
    if (work.subPhase === 'execute' || (work.subPhase !== undefined && status === 'completed')) return []
    const marks = { completed: paint.green('✓'), failed: paint.red('✗'), blocked: paint.red('✗'), skipped: '–' }
    const what = work.step === undefined ? `phase ${workName(work)}` : workName(work)
    const more = text === '' ? '' : paint.dim(`  ${clipLine(toOneLine(text), width - what.length - 20)}`)
    return [`  ${marks[status]} ${what} ${status}${more}`]
  },
  'breakpoint-reached': ({ work }, { paint }) => [paint.yellow(`  ■ breakpoint after ${workName(work)}`)],
  'hook-started': () => [],
  'hook-ended': ({ hook, ok, error, exitCode }, { paint }) => [
    `  hook ${hook}  ${ok ? paint.green('✓') : paint.red(`✗ ${describeExit({ error, exitCode })}`)}`,
  ],
  'iteration-ended': ({ verdict, durationMs, costUsd }, { paint }) => {
    const cost = costUsd ? `  ${formatDollars(costUsd)}` : ''
    return [paint.dim(`  ${verdict}  ${formatHumanDuration(durationMs)}${cost}`)]
  },
  'question-asked': ({ reason, details }, { paint }) => [
    paint.yellow(`  ? ${toOneLine(reason)}`),
    paint.dim(`    ${toOneLine(details)}`),
  ],
  'user-said': (event, { paint, width }) => [
    paint.blue(`  ${userTitle(event)}: ${clipLine(toOneLine(event.text), width - 24)}`),
  ],
  'sprint-rested': () => [],
}

export function eventLines<T extends SprintEvent['type']>(
  event: Extract<SprintEvent, { type: T }>,
  look: EventLineLook,
): string[] {
  const show: (event: Extract<SprintEvent, { type: T }>, look: EventLineLook) => string[] = linesByEvent[event.type]
  return show(event, look).map((line) => stripControlSequences(line))
}

const stepLine = (id: string, { steps, width }: EventLineLook): string =>
  `${id}  ${clipLine(toOneLine(steps(id) ?? ''), width - 16)}`

function agentLines(event: AgentEvent, { paint, width, project }: EventLineLook): string[] {
  switch (event.kind) {
    case 'text': {
      const text = spokenText(event.text)
      return text === '' ? [] : [paint.dim(`“${clipLine(text, width - 6)}”`)]
    }
    case 'tool': {
      if (event.phase === 'start') return [`${paint.blue('→')} ${toolText(event, project, width)}`]
      return event.ok === false
        ? [paint.yellow(`  failed: ${clipLine(toOneLine(event.output ?? ''), width - 16)}`)]
        : []
    }
    case 'retry':
      return [paint.yellow(describeRetry(event.reason))]
    case 'limit':
    case 'session':
    case 'usage':
    case 'terminal':
    case 'raw':
      return []
  }
}

/** A tool and its argument; paths are relative to the project. */
export function toolText(
  { name = 'tool', argument = '' }: Extract<AgentEvent, { kind: 'tool' }>,
  project: string,
  width: number,
): string {
  return clipLine(`${name} ${toOneLine(argument.replaceAll(`${project}/`, ''))}`.trimEnd(), width - 6)
}

const maxOutputLines = 6

/** How test runners, compilers and linters begin a line that names a failure. */
const failureLine = /^(?:✖|✗|×|❌|not ok\b|FAIL(?:ED)?\b|--- FAIL|E |\w*Error\b|error\b)/

/**
 * The end of what a red check printed. If it only counts, as the summary of a test runner does, the first lines that name a failure
 * come before it. Without the advertisement that npm prints after the output of a script.
 */
function tellingLines(output: string): string[] {
  const lines = output
    .split('\n')
    .map((line) => toOneLine(line))
    .filter((line) => line !== '' && !line.startsWith('npm notice'))
  const end = lines.slice(-maxOutputLines)
  if (end.some((line) => failureLine.test(line))) return end
  const failures = [...new Set(lines.filter((line) => failureLine.test(line)))].slice(0, maxOutputLines - 2)
  return [...failures, ...end.slice(failures.length - maxOutputLines)]
}
