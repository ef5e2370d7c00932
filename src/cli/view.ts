import type { AgentEvent, SprintEvent } from '../contract/events.ts'
import type { Progress, SprintStatus } from '../contract/progress.ts'
import type { Io } from './io.ts'
import { clip, humanDuration, oneLine, paintFor, type Paint } from './paint.ts'

/** Shows a run as it happens. */
export interface View {
  readonly show: (event: SprintEvent) => void
  readonly close: () => void
}

/** One JSON object per line and event, for programs. */
export const jsonView = (io: Io): View => ({
  show: (event) => io.print(JSON.stringify({ at: new Date(io.now()).toISOString(), ...event })),
  close: () => {},
})

/** Lines as things happen; on a terminal also one line that moves while the agent works. */
export function plainView(io: Io, steps: (id: string) => string | undefined): View {
  const paint = paintFor(io.color)
  const status = statusLine(io, paint)
  const print = (text: string) => {
    status.clear()
    io.print(text)
  }
  return {
    show(event) {
      status.note(event)
      for (const line of linesOf(event, { paint, steps, width: Math.max(40, io.columns()) })) print(line)
    },
    close: status.stop,
  }
}

type Look = { readonly paint: Paint; readonly steps: (id: string) => string | undefined; readonly width: number }

function linesOf(event: SprintEvent, look: Look): string[] {
  const { paint, width } = look
  const indented = (text: string) => `  ${text}`
  switch (event.type) {
    case 'sprint-started':
      return event.resumed ? [paint.dim('resumed')] : []
    case 'note':
      return [event.level === 'warning' ? paint.yellow(`! ${event.text}`) : paint.dim(event.text)]
    case 'iteration-started': {
      const what = event.step ? `${event.step}  ${clip(oneLine(event.stepPrompt ?? ''), width - 40)}` : ''
      return ['', `${paint.bold(`iteration ${event.iteration}`)}  ${paint.cyan(event.mode)}  ${what}`.trimEnd()]
    }
    case 'attempt-started':
      return event.attempt > 1 ? [indented(paint.dim(`attempt ${event.attempt}`))] : []
    case 'agent':
      return agentLines(event.event, look).map(indented)
    case 'attempt-failed': {
      const retry = event.retryInMs === undefined ? '' : `; next attempt in ${humanDuration(event.retryInMs)}`
      return [indented(paint.yellow(`${event.class.replace('_', ' ')}: ${oneLine(event.reason)}${retry}`))]
    }
    case 'steps-changed':
      return [
        ...event.completed.map((id) =>
          indented(`${paint.green('✓')} ${id}  ${clip(oneLine(look.steps(id) ?? ''), width - 16)}`),
        ),
        ...event.added.map((id) =>
          indented(`${paint.blue('+')} ${id}  ${clip(oneLine(look.steps(id) ?? ''), width - 16)}`),
        ),
      ]
    case 'report-rejected':
      return event.reasons.map((reason) => indented(paint.yellow(`! ${oneLine(reason)}`)))
    case 'claim-made':
      return [indented(`${paint.magenta('goal-complete?')} ${clip(oneLine(event.summary), width - 18)}`)]
    default:
      return judgementLines(event, look).map(indented)
  }
}

type Judgement = Exclude<
  SprintEvent,
  {
    type:
      | 'sprint-started'
      | 'note'
      | 'iteration-started'
      | 'attempt-started'
      | 'agent'
      | 'attempt-failed'
      | 'steps-changed'
      | 'report-rejected'
      | 'claim-made'
  }
>

/** What Ralph makes of it: checks, verdicts, hooks, the end. */
function judgementLines(event: Judgement, { paint, width }: Look): string[] {
  switch (event.type) {
    case 'check-started':
    case 'hook-started':
    case 'sprint-rested':
      return []
    case 'check-ended': {
      const { name, passed, exitCode, reason, durationMs, output } = event.result
      const how = passed ? paint.green('✓ passed') : paint.red(`✗ ${reason ?? `exit code ${exitCode}`}`)
      const tail = passed ? [] : lastLines(output, 6).map((line) => paint.dim(`  │ ${clip(line, width - 8)}`))
      return [`check ${paint.bold(name)}  ${how}  ${paint.dim(humanDuration(durationMs))}`, ...tail]
    }
    case 'claim-refused':
      return [
        paint.red(`refused by ${event.by.join(', ')}`) + paint.dim(`  ${clip(oneLine(event.reason), width - 40)}`),
      ]
    case 'claim-accepted':
      return [
        paint.green(
          event.by.length > 0 ? `accepted by ${event.by.join(', ')}` : 'accepted, unchecked: there is no check',
        ),
      ]
    case 'hook-ended': {
      const how = event.ok ? paint.green('✓') : paint.red(`✗ ${event.error ?? `exit code ${event.exitCode}`}`)
      return [`hook ${event.hook}  ${how}`]
    }
    case 'iteration-ended': {
      const cost = event.costUsd ? `  $${event.costUsd.toFixed(2)}` : ''
      const summary = event.summary ? `  ${clip(oneLine(event.summary), width - 30)}` : ''
      return [paint.dim(`${event.verdict}${summary}  ${humanDuration(event.durationMs)}${cost}`)]
    }
    case 'question-asked':
      return [paint.yellow(`? ${oneLine(event.reason)}`), paint.dim(`  ${oneLine(event.details)}`)]
  }
}

function agentLines(event: AgentEvent, { paint, width }: Look): string[] {
  switch (event.kind) {
    case 'text': {
      const said = oneLine(event.text.replaceAll(/```[\s\S]*?(```|$)/g, ''))
      return said ? [paint.dim(`“${clip(said, width - 6)}”`)] : []
    }
    case 'tool':
      if (event.phase === 'start')
        return [
          `${paint.blue('→')} ${event.name ?? 'tool'} ${clip(oneLine(event.argument ?? ''), width - 16)}`.trimEnd(),
        ]
      return event.ok === false ? [paint.yellow(`  failed: ${clip(oneLine(event.output ?? ''), width - 16)}`)] : []
    case 'retry':
      return [paint.yellow(`the agent retries${event.reason ? `: ${oneLine(event.reason)}` : ''}`)]
    case 'limit':
    case 'session':
    case 'usage':
    case 'terminal':
    case 'raw':
      return []
  }
}

const lastLines = (text: string, count: number): string[] =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .map((line) => oneLine(line))

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** The moving line: what is going on, and for how long. */
function statusLine(io: Io, paint: Paint) {
  let doing = ''
  let since = performance.now()
  let shown = false
  let frame = 0
  const clear = () => {
    if (shown) process.stdout.write('\r\u001b[2K')
    shown = false
  }
  const draw = () => {
    if (doing === '') return
    const text = `${spinner[frame++ % spinner.length]} ${doing}  ${humanDuration(performance.now() - since)}`
    process.stdout.write(`\r\u001b[2K  ${paint.dim(clip(text, io.columns() - 4))}`)
    shown = true
  }
  const timer = io.isTerminal ? setInterval(draw, 120) : undefined
  timer?.unref()
  return {
    clear,
    note(event: SprintEvent) {
      const next = doingAfter(event)
      if (next === undefined) return
      doing = next
      since = performance.now()
      if (doing === '') clear()
    },
    stop: () => {
      clearInterval(timer)
      clear()
    },
  }
}

function doingAfter(event: SprintEvent): string | undefined {
  switch (event.type) {
    case 'attempt-started':
      return `${event.agent} is working`
    case 'check-started':
      return `checking: ${event.name}`
    case 'hook-started':
      return event.parallel ? undefined : `hook ${event.hook}`
    case 'attempt-failed':
      return event.retryInMs === undefined ? '' : 'waiting'
    case 'agent':
      if (event.event.kind === 'tool' && event.event.phase === 'start') {
        return `${event.event.name ?? 'tool'} ${oneLine(event.event.argument ?? '')}`
      }
      return event.event.kind === 'terminal' ? '' : undefined
    case 'iteration-ended':
    case 'sprint-rested':
      return ''
    default:
      return undefined
  }
}

const endings: Readonly<Record<SprintStatus, string>> = {
  completed: 'goal reached',
  paused: 'paused',
  'paused-at-breakpoint': 'paused at a breakpoint',
  'not-started': 'not started',
  'in-progress': 'in progress',
  parked: 'parked',
  blocked: 'blocked',
  failed: 'failed',
  'needs-human': 'a human is needed',
  'limit-reached': 'limit reached',
  interrupted: 'interrupted',
}

/** The closing lines of a run. */
export function summaryLines(progress: Progress, places: Readonly<Record<string, string>>, io: Io): string[] {
  const paint = paintFor(io.color)
  const { stats, status, reason, iterations } = progress
  const done = status === 'completed'
  const refused = iterations.filter(({ verdict }) => verdict === 'refused').length
  const checks = (progress.doneWhen ?? []).map(({ name, run }) => name ?? run).join(', ') || 'none'
  const cost = stats.costUsd === null ? 'unpriced' : `$${stats.costUsd.toFixed(2)}`
  const rows: [string, string][] = [
    ['iterations', `${stats.currentIteration}${refused > 0 ? `, ${refused} with a claim that was refused` : ''}`],
    ['steps', `${stats.completedSteps} of ${stats.totalSteps} completed`],
    ['checks', done && checks !== 'none' ? `${checks} ✓` : checks],
    ['time', `${humanDuration(stats.activeMs)}, ${cost}`],
    ...Object.entries(places),
  ]
  const head = `${done ? paint.green('✓') : paint.yellow('■')} ${paint.bold(endings[status])}${reason ? `: ${oneLine(reason)}` : ''}`
  return ['', head, ...rows.map(([name, value]) => `  ${paint.dim(name.padEnd(12))} ${value}`)]
}
