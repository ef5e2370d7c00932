import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { transcriptPrinter } from '../../words/transcript-lines.ts'
import { RalphError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Progress } from '../../contract/progress.ts'
import { stateId } from '../../platform/files/state-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { hasId } from '../../storage/state/state-folder.ts'
import { defineCommand, parsePositiveNumber } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { findIterationAgent } from '../sprint/iteration-agent.ts'
import { toOneLine } from '../../words/text.ts'
import { createPaint } from '../io/paint.ts'
import {
  findLastRecorded,
  isAttemptRunning,
  listRecordedAttempts,
  listRecordedIterations,
  openAttemptReader,
  type RecordedAttempt,
} from '../report/attempts.ts'
import { iterationCheckLines, readCheckResults } from '../report/check-results.ts'
import { createEventFilter, type EventFilter } from '../report/event-filter.ts'
import { createSprintRedactor } from '../io/secrets.ts'
import { findSprint } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

const pollIntervalMs = 300

type LogsFlags = EventFilter & { readonly json?: boolean; readonly follow?: boolean }

export const logs = defineCommand({
  name: 'logs',
  summary: 'Show what the agent said and did in each iteration',
  arguments: ['[sprint]'],
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
    'Shows every attempt of the iteration, oldest first, then its checks with the output of red ones. Combine --tool and --errors to see failed calls of that tool.',
  examples: ['ralph logs', 'ralph logs auth --iteration 3 --errors', 'ralph logs auth --follow --tool Bash'],
  async run({ values, positionals: [sprintArgument] }, io) {
    const iteration = parsePositiveNumber(values.iteration, '--iteration')
    const { sprintDir, name } = await findSprint(sprintArgument, io)
    const progress = await requireProgress(sprintDir, io)
    const chosen = iteration ?? (await findLastRecorded(sprintDir))
    const isComing = values.follow === true && readSprintOwner(sprintDir) !== undefined
    const hasAny = chosen !== undefined && (await listRecordedAttempts(sprintDir, chosen)).length > 0
    if (!isComing && !hasAny) {
      const why = stateId(sprintDir) === undefined && hasId(sprintDir) ? foreignState : undefined
      throw noTranscript(await listRecordedIterations(sprintDir), iteration, { file: name, why })
    }
    let printed = 0
    const counting: Io = { ...io, print: (text) => (printed++, io.print(text)) }
    await showLogs({ sprintDir, progress, iteration, first: chosen ?? 1, options: values }, counting)
    if (values.json !== true && values.tool === undefined) await showChecks(sprintDir, chosen ?? 1, counting)
    if (printed === 0 && values.json !== true) io.print(`no matching events in iteration ${chosen ?? 1}`)
    return 0
  },
})

/** What the checks of an iteration printed, and its tests by name. */
async function showChecks(sprintDir: string, number: number, io: Io): Promise<void> {
  const redact = createSprintRedactor(sprintDir, io)
  const found = await readCheckResults(sprintDir, number)
  for (const line of found.flatMap((checks) => iterationCheckLines(checks))) io.print(redact(line))
}

const foreignState = 'the transcripts are in its state, which belongs to another user, or is in another RALPH_HOME'

function noTranscript(
  numbers: readonly number[],
  iteration: number | undefined,
  { file, why = 'no agent has worked on this sprint yet' }: { readonly file: string; readonly why: string | undefined },
): RalphError {
  const which = iteration === undefined ? 'no transcript yet' : `no transcript of iteration ${iteration}`
  return new RalphError('FILE_NOT_FOUND', which, {
    place: { file },
    hint:
      numbers.length === 0
        ? why
        : `the last one is of iteration ${numbers.at(-1)}: ralph logs <sprint> -i ${numbers.at(-1)}`,
  })
}

type LogsContext = {
  readonly sprintDir: string
  readonly progress: Progress
  /** The only iteration to show; absent: the last one and all that follow. */
  readonly iteration: number | undefined
  readonly first: number
  readonly options: LogsFlags
}

async function showLogs({ sprintDir, progress, iteration, first, options }: LogsContext, io: Io): Promise<void> {
  const shown = new Set<string>()
  const next = async () => {
    const numbers =
      iteration === undefined ? (await listRecordedIterations(sprintDir)).filter((n) => n >= first) : [iteration]
    for (const number of numbers) {
      const found = (await listRecordedAttempts(sprintDir, number)).find(({ folder }) => !shown.has(folder))
      if (found) return found
    }
    return undefined
  }
  const isRunning = () =>
    options.follow === true && !io.outputClosed.aborted && readSprintOwner(sprintDir) !== undefined
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
    } else if (!mayCome || (iteration !== undefined && (await isIterationOver(sprintDir, iteration, io)))) return
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
  const isAtWork = isAttemptRunning(attempt)
  const outcome = await reading.end()
  if (isAtWork) return
  if (isAll || (options.errors === true && options.tool === undefined && outcome.status !== 'ok')) printer.end(outcome)
}

/** Print the heading only before the first event. */
function textPrinter({ iteration, attempt, again }: RecordedAttempt, agent: string, io: Io) {
  const paint = createPaint(io.useColor)
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
