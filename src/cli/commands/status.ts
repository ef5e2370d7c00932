import { basename } from 'node:path'
import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'
import { HookTask, IterationRecord, Step, type Progress } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { importedClaimReason } from '../../storage/seed/imported-claim.ts'
import { encodeShownProgress } from '../../storage/state/shown-progress.ts'
import { createDiskPort } from '../../storage/sprint/disk.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { defineCommand, parsePositiveNumber } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { clipLine, toOneLine, toShortGoal } from '../../words/text.ts'
import { formatHumanDuration, formatAge } from '../../words/durations.ts'
import { createPaint } from '../io/paint.ts'
import { printWrapped } from '../io/print-wrapped.ts'
import { formatCost } from '../../words/money.ts'
import { describeExit } from '../../words/proof-text.ts'
import { questionLines } from '../view/receipt.ts'
import { formatTokens } from '../../words/counts.ts'
import type { PagedHistory, SprintHistory } from '../../words/report/report-data.ts'
import { readHistory } from '../report/read-history.ts'
import { receiptTableLines } from '../report/receipts.ts'
import { iterationText } from '../../words/receipt-text.ts'
import { tableLines, type TableColumn } from '../io/table.ts'
import { phaseLines } from '../view/phase-lines.ts'
import { displayPath } from '../io/display-path.ts'
import { findSprint, listSprintFolders, shortName, type FoundSprint } from '../sprint/find-sprint.ts'
import { applyEdits, loadProgress } from '../sprint/sprint-state.ts'

export const status = defineCommand({
  name: 'status',
  summary: 'Show the status of sprints',
  arguments: ['[sprint]'],
  options: {
    all: { type: 'boolean', description: 'show every step and up to 1,000 iterations, from the journal' },
    before: { type: 'string', value: 'N', description: 'with --all: show the 1,000 iterations before this one' },
    json: { type: 'boolean', description: 'print the whole progress as JSON; with --all also its history' },
  },
  details: 'Without a name, lists all sprints of this project, as "ralph list" does.',
  examples: ['ralph status', 'ralph status auth --all', 'ralph status auth --json'],
  async run({ values: { all, json, ...values }, positionals: [sprintArgument] }, io) {
    const before = parsePositiveNumber(values.before, '--before')
    if (before !== undefined && all !== true) throw new RalphError('USAGE', 'status: --before needs --all')
    if (sprintArgument === undefined && all === true) throw new RalphError('USAGE', 'status: --all needs a sprint')
    if (sprintArgument === undefined) await showAll(json === true, io)
    else await showOne(await findSprint(sprintArgument, io), { all: all === true, json: json === true, before }, io)
    return 0
  },
})

export const list = defineCommand({
  name: 'list',
  summary: 'List the sprints of this project',
  options: { json: { type: 'boolean', description: 'print [{folder, progress}] as JSON' } },
  details: 'Every command takes one of these names, the beginning of one, or nothing for the latest sprint.',
  examples: ['ralph list'],
  async run({ values: { json } }, io) {
    await showAll(json === true, io)
    return 0
  },
})

type ListedSprint = {
  readonly dir: string
  readonly progress: Progress | undefined
  /** The error, if this sprint cannot be read. The others are still listed. */
  readonly error?: RalphError
  /** Why the run waits although the sprint is in progress: a full disk, on which no file can say so. */
  readonly waiting?: string | undefined
}

async function showAll(json: boolean, io: Io): Promise<void> {
  const dirs = await listSprintFolders(io)
  const sprints = await Promise.all(dirs.map(readListedSprint))
  if (json) return io.print(JSON.stringify(sprints.map((sprint) => encodeSprint(sprint, io))))
  if (sprints.length === 0) return io.print('no sprints yet; start one with: ralph run "what the agent should achieve"')
  const names = dirs.map((dir) => basename(dir))
  const rows = sprints.map((sprint) => [
    shortName(basename(sprint.dir), names),
    ...sprintOverviewCells(sprint, io.now()),
  ])
  for (const line of tableLines(overviewColumns, rows, { width: io.columns(), paint: createPaint(io.useColor) }))
    io.print(line)
}

async function readListedSprint(dir: string): Promise<ListedSprint> {
  try {
    const progress = await loadProgress(dir)
    return { dir, progress, waiting: await describeWaiting(dir, progress) }
  } catch (error) {
    if (error instanceof RalphError) return { dir, progress: undefined, error }
    throw error
  }
}

async function describeWaiting(dir: string, progress: Progress | undefined): Promise<string | undefined> {
  if (progress?.status !== 'in-progress' || readSprintOwner(dir) === undefined) return undefined
  const shortage = await createDiskPort(dir)
    .shortage()
    .catch(() => undefined)
  return shortage && `paused: disk-full: ${shortage}`
}

const encodeSprint = ({ dir, progress, error, waiting }: ListedSprint, io: Io) => ({
  folder: displayPath(dir, io),
  progress: progress ? encodeShownProgress(progress) : null,
  ...(waiting !== undefined && { waiting }),
  ...(error && { error: { code: error.code, message: error.message } }),
})

const overviewColumns: readonly TableColumn[] = [
  { title: 'sprint' },
  { title: 'state' },
  { title: 'last event', align: 'right', drop: 1 },
  { title: 'iteration', align: 'right', drop: 2 },
  { title: 'steps', align: 'right', drop: 4 },
  { title: 'spent', align: 'right', drop: 3 },
  { title: 'goal' },
]

function sprintOverviewCells({ dir, progress, error, waiting }: ListedSprint, now: number): string[] {
  if (error) return [error.code, '', '', '', '', error.message]
  if (!progress) return ['not compiled', '', '', '', '', '']
  const { stats, goal } = progress
  return [
    waiting === undefined ? describeSprintState(progress, dir, now) : 'disk full',
    stats.updatedAt === undefined ? '' : `${formatAge(now - stats.updatedAt)} ago`,
    iterationText(progress),
    `${stats.completedSteps}/${stats.totalSteps}`,
    formatCost(stats),
    goal,
  ]
}

/** A sprint whose status says running but that has no process was cut off, or another program called it completed. */
function describeSprintState({ status: state, parked, reason }: Progress, dir: string, now: number): string {
  if (state === 'in-progress' && readSprintOwner(dir) !== undefined) return 'running'
  if (state === 'in-progress') return reason === importedClaimReason ? 'unconfirmed' : 'cut off'
  if (state === 'parked' && parked && parked.until > now) return `parked, ${formatAge(parked.until - now)} left`
  return state
}

type StatusFlags = { readonly all: boolean; readonly json: boolean; readonly before: number | undefined }

const pageSize = 1000

async function showOne(
  { sprintDir: dir, name }: FoundSprint,
  { all, json, before }: StatusFlags,
  io: Io,
): Promise<void> {
  const history = all ? await readHistory(dir, { size: pageSize, before }) : undefined
  const recorded = history?.progress ?? (await loadProgress(dir))
  // A running process applies edits itself.
  const isAtRest = recorded !== undefined && readSprintOwner(dir) === undefined
  const progress = isAtRest ? await applyEdits(recorded, dir, io) : recorded
  const waiting = await describeWaiting(dir, progress)
  if (json) {
    const more = history && { history: encodeHistory(history) }
    return io.print(JSON.stringify({ ...encodeSprint({ dir, progress, waiting }, io), ...more }))
  }
  if (!progress) return io.print(`${displayPath(dir, io)}  not compiled`)
  printWrapped(sprintDetailLines(progress, io, history), io)
  if (waiting !== undefined) io.print(createPaint(io.useColor).yellow(waiting))
  if (progress !== recorded) io.print('edited in PROGRESS.yaml since the last run; the next run applies it')
  if (history?.earlier !== undefined)
    io.print(`earlier iterations: ralph status ${name} --all --before ${history.earlier}`)
  if (progress.status !== 'in-progress') return
  io.print(`owner: ${readSprintOwner(dir) ?? `none; resume with: ralph run ${name}`}`)
}

const encodeHistory = ({ iterations, steps, hookTasks, earlier }: PagedHistory) => ({
  ...(earlier !== undefined && { earlier }),
  iterations: iterations.map((record) => z.encode(IterationRecord, record)),
  steps: steps.map((step) => z.encode(Step, step)),
  'hook-tasks': hookTasks.map((task) => z.encode(HookTask, task)),
})

const shownSteps = 20
const shownReceipts = 5

/** The status of one sprint, with its last steps and receipts, or all of them. */
export function sprintDetailLines(progress: Progress, io: Io, history?: SprintHistory): string[] {
  const paint = createPaint(io.useColor)
  const { stats, live, humanNeeded, parked, reason } = progress
  const width = io.columns()
  const [question = '', ...more] = humanNeeded ? questionLines(humanNeeded) : []
  const how = describeExit(progress)
  const mode = live[0] ? ` ${live[0].mode}` : ''
  const age = stats.updatedAt === undefined ? '' : `, last event ${formatAge(io.now() - stats.updatedAt)} ago`
  const marks = { completed: paint.green('✓'), pending: '○' }
  const steps = history?.steps ?? progress.dynamicSteps.slice(-shownSteps)
  const receipts = receiptTableLines(history?.iterations ?? progress.iterations.slice(-shownReceipts), { width, paint })
  return [
    `${paint.bold(progress.sprintId)}  ${progress.status}${age}${reason ? `: ${toOneLine(reason)}` : ''}`,
    clipLine(toShortGoal(progress.goal), width),
    `iteration ${iterationText(progress)}${mode}  ${formatHumanDuration(stats.activeMs)}  ${formatCost(stats)}  ${formatTokens(stats.usage)}`,
    ...(how === undefined ? [] : [`proof: ${how}`]),
    ...(parked ? [paint.yellow(parkedLine(parked, io))] : []),
    ...(question === '' ? [] : [paint.yellow(question), ...more]),
    ...phaseLines(progress, { paint, width }),
    ...steps.map((step) => `  ${marks[step.status]} ${step.id}  ${clipLine(toOneLine(step.prompt), width - 16)}`),
    ...(receipts.length > 0 ? ['', ...receipts] : []),
  ]
}

function parkedLine({ until, reason }: NonNullable<Progress['parked']>, io: Io): string {
  const left = until - io.now()
  const when = left > 0 ? `resumes in ${formatHumanDuration(left)}, at ${formatTimestamp(until)}` : 'can be resumed'
  return `${when}: ${toOneLine(reason)}`
}
