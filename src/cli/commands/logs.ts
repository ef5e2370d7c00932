import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { transcriptPrinter } from '../../agents/transcript/transcript.ts'
import { RalphError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Progress } from '../../contract/progress.ts'
import { attemptState } from '../../platform/processes/attempt-folder.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { defineCommand, parsePositiveNumber } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { findIterationAgent } from '../sprint/iteration-agent.ts'
import { toOneLine } from '../../words/text.ts'
import { createPaint } from '../io/paint.ts'
import { listRecordedAttempts, openAttemptReader, type RecordedAttempt } from '../report/attempts.ts'
import { createEventFilter, type EventFilter } from '../report/event-filter.ts'
import { createSprintRedactor } from '../io/secrets.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

const pollIntervalMs = 300

type LogsFlags = EventFilter & { readonly json?: boolean; readonly follow?: boolean }

export const logs = defineCommand({
  name: 'logs',
  summary: 'Show what the agent said and did in each iteration',
  arguments: ['<sprint-dir>'],
  options: {
    iteration: { type: 'string', short: 'i', value: 'N', description: 'show this iteration; default: the last one' },
    follow: { type: 'boolean', short: 'f', description: 'keep following until the sprint or the given iteration ends' },
    tool: {
      type: 'string',
      short: 't',
      value: 'NAME',
      description: 'show only calls of this tool, such as Bash or Edit',
    },
    errors: { type: 'boolean', short: 'e', description: 'show only failures: tools, retries, limits, turns' },
    json: { type: 'boolean', description: 'print one JSON event per line, as "ralph run --json" does' },
  },
  details:
    'Shows every attempt of the iteration, oldest first. Combine --tool and --errors to see failed calls of that tool.',
  examples: [
    'ralph logs .claude/sprints/2026-11-15_auth',
    'ralph logs s --iteration 3 --errors',
    'ralph logs s --follow --tool Bash',
  ],
  async run({ values, positionals: [given = ''] }, io) {
    const iteration = parsePositiveNumber(values.iteration, '--iteration')
    const sprintDir = openSprintFolder(given)
    const progress = await requireProgress(sprintDir, io)
    const found = await listRecordedAttempts(sprintDir)
    const chosen = iteration ?? found.at(-1)?.iteration
    const isComing = values.follow === true && readSprintOwner(sprintDir) !== undefined
    if (!isComing && !found.some((one) => one.iteration === chosen)) throw noTranscript(found, iteration, given)
    let printed = 0
    const counting: Io = { ...io, print: (text) => (printed++, io.print(text)) }
    await showLogs({ sprintDir, progress, given: iteration, first: chosen ?? 1, options: values }, counting)
    if (printed === 0 && values.json !== true) io.print(`no matching events in iteration ${chosen ?? 1}`)
    return 0
  },
})

function noTranscript(found: readonly RecordedAttempt[], iteration: number | undefined, file: string): RalphError {
  const numbers = found.map((one) => one.iteration)
  const which = iteration === undefined ? 'no transcript yet' : `no transcript of iteration ${iteration}`
  return new RalphError('FILE_NOT_FOUND', which, {
    place: { file },
    hint:
      numbers.length === 0
        ? 'no agent has worked on this sprint yet'
        : `transcripts exist for iterations ${Math.min(...numbers)} to ${Math.max(...numbers)}`,
  })
}

type LogsContext = {
  readonly sprintDir: string
  readonly progress: Progress
  /** The only iteration to show; absent: the last one and all that follow. */
  readonly given: number | undefined
  readonly first: number
  readonly options: LogsFlags
}

async function showLogs({ sprintDir, progress, given, first, options }: LogsContext, io: Io): Promise<void> {
  const shown = new Set<string>()
  const next = async () =>
    (await listRecordedAttempts(sprintDir)).find(
      ({ iteration, folder }) => !shown.has(folder) && (given === undefined ? iteration >= first : iteration === given),
    )
  const isRunning = () => options.follow === true && readSprintOwner(sprintDir) !== undefined
  for (;;) {
    const mayCome = isRunning()
    const attempt = await next()
    if (attempt) {
      shown.add(attempt.folder)
      const known = mayCome ? await requireProgress(sprintDir, io) : progress
      await showAttempt(
        attempt,
        known,
        { ...options, isOver: async () => !isRunning() || (await next()) !== undefined },
        io,
      )
    } else if (!mayCome || (given !== undefined && (await isIterationOver(sprintDir, given, io)))) return
    else await sleep(pollIntervalMs)
  }
}

const isIterationOver = async (sprintDir: string, iteration: number, io: Io): Promise<boolean> =>
  (await requireProgress(sprintDir, io)).iterations.some(({ number }) => number >= iteration)

type AttemptReading = LogsFlags & { readonly isOver: () => Promise<boolean> }

/** Reads to the end of the file; when following, until the attempt ends. */
async function showAttempt(
  attempt: RecordedAttempt,
  progress: Progress,
  options: AttemptReading,
  io: Io,
): Promise<void> {
  const agent = findIterationAgent(progress, attempt.iteration)
  const printer = options.json === true ? jsonPrinter(attempt, io) : textPrinter(attempt, agent, io)
  const isAll = options.tool === undefined && options.errors !== true
  const turn = { isOver: false }
  const filtered = createEventFilter(options, printer.event)
  const redact = createSprintRedactor(dirname(dirname(attempt.folder)), io)
  const reading = await openAttemptReader(attempt, { agent, redact }, (event) => {
    if (event.kind === 'terminal') turn.isOver = true
    filtered(event)
  })
  await reading.read()
  while (options.follow === true && !turn.isOver && !(await options.isOver())) {
    await sleep(pollIntervalMs)
    await reading.read()
  }
  const isAtWork = attemptState(attempt.folder) === 'running'
  const outcome = await reading.end()
  if (isAtWork) return
  if (isAll || (options.errors === true && options.tool === undefined && outcome.status !== 'ok')) printer.end(outcome)
}

/** Print the heading only before the first event. */
function textPrinter({ iteration, attempt, again }: RecordedAttempt, agent: string, io: Io) {
  const paint = createPaint(io.color)
  const twice = again > 1 ? `, restarted (${again})` : ''
  let isHeaded = false
  const print = (line: string) => {
    if (!isHeaded) io.print(paint.bold(`== iteration ${iteration}, attempt ${attempt}${twice}  ${toOneLine(agent)}`))
    isHeaded = true
    io.print(line)
  }
  return transcriptPrinter(print)
}

const jsonPrinter = ({ iteration, attempt }: RecordedAttempt, io: Io) => ({
  event: (event: AgentEvent) => io.print(JSON.stringify({ type: 'agent', iteration, attempt, event })),
  end: (_outcome: Outcome) => {},
})
