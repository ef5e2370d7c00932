import { basename, join } from 'node:path'
import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'
import { HookTask, IterationRecord, Progress, Step } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { isFolder, listFolder } from '../../platform/files/files.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { ownerOf } from '../../storage/state/sprint-lock.ts'
import { command } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { clip, humanDuration, oneLine, paintFor } from '../io/paint.ts'
import { money, questionLines, tokens } from '../view/receipt.ts'
import type { History } from '../report/history.ts'
import { readHistory } from '../report/read-history.ts'
import { ageText, iterationText, receiptTable } from '../report/receipts.ts'
import { tableLines, type Column } from '../io/table.ts'
import { phaseLines } from '../view/phase-lines.ts'
import { shownPath } from '../io/display-path.ts'
import { loadProgress } from '../sprint/sprint-state.ts'

export const status = command({
  name: 'status',
  summary: 'Show the status of sprints',
  arguments: ['[sprint-dir]'],
  options: {
    all: { type: 'boolean', description: 'show every step and iteration, from the whole journal' },
    json: { type: 'boolean', description: 'print the whole progress as JSON; with --all also the whole history' },
  },
  details: 'Without a folder, lists all sprints of this project.',
  examples: ['ralph status', 'ralph status .claude/sprints/2026-11-15_auth --all', 'ralph status s --json'],
  async run({ values: { all, json }, positionals: [given] }, io) {
    if (given === undefined && all === true) throw new RalphError('USAGE', 'status: --all needs a sprint folder')
    if (given === undefined) await showAll(json === true, io)
    else await showOne(openSprintFolder(given), { all: all === true, json: json === true }, io)
    return 0
  },
})

type Found = {
  readonly dir: string
  readonly progress: Progress | undefined
  /** The error, if this sprint cannot be read. The others are still listed. */
  readonly error?: RalphError
}

async function showAll(json: boolean, io: Io): Promise<void> {
  const dirs = await sprintFolders(io)
  const sprints = await Promise.all(dirs.map(find))
  if (json) return io.print(JSON.stringify(sprints.map((sprint) => encoded(sprint, io))))
  if (sprints.length === 0) return io.print('no sprints yet; create one with: ralph init, or ralph run --goal "…"')
  const rows = sprints.map((sprint) => overviewRow(sprint, io.now()))
  for (const line of tableLines(overview, rows, { width: io.columns(), paint: paintFor(io.color) })) io.print(line)
}

async function sprintFolders(io: Io): Promise<string[]> {
  const folder = join(io.cwd, '.claude', 'sprints')
  const names = await listFolder(folder)
  return names
    .toSorted()
    .map((name) => join(folder, name))
    .filter((dir) => isFolder(dir))
}

async function find(dir: string): Promise<Found> {
  try {
    return { dir, progress: await loadProgress(dir) }
  } catch (error) {
    if (error instanceof RalphError) return { dir, progress: undefined, error }
    throw error
  }
}

const encoded = ({ dir, progress, error }: Found, io: Io) => ({
  folder: shownPath(dir, io),
  progress: progress ? z.encode(Progress, progress) : null,
  ...(error && { error: { code: error.code, message: error.message } }),
})

const overview: readonly Column[] = [
  { title: 'sprint' },
  { title: 'state' },
  { title: 'last event', align: 'right', drop: 1 },
  { title: 'iteration', align: 'right', drop: 2 },
  { title: 'steps', align: 'right', drop: 4 },
  { title: 'spent', align: 'right', drop: 3 },
  { title: 'goal' },
]

function overviewRow({ dir, progress, error }: Found, now: number): string[] {
  if (error) return [basename(dir), error.code, '', '', '', '', error.message]
  if (!progress) return [basename(dir), 'not compiled', '', '', '', '', '']
  const { stats, goal } = progress
  return [
    basename(dir),
    stateText(progress, dir, now),
    stats.updatedAt === undefined ? '' : `${ageText(now - stats.updatedAt)} ago`,
    iterationText(progress),
    `${stats.completedSteps}/${stats.totalSteps}`,
    money(stats),
    goal,
  ]
}

/** A sprint whose status says running but that has no process was cut off. */
function stateText({ status: state, parked }: Progress, dir: string, now: number): string {
  if (state === 'in-progress') return ownerOf(dir) === undefined ? 'cut off' : 'running'
  if (state === 'parked' && parked && parked.until > now) return `parked, ${ageText(parked.until - now)} left`
  return state
}

type How = { readonly all: boolean; readonly json: boolean }

async function showOne(dir: string, { all, json }: How, io: Io): Promise<void> {
  const history = all ? await readHistory(dir) : undefined
  const progress = history?.progress ?? (await loadProgress(dir))
  if (json) {
    const more = history && { history: encodedHistory(history) }
    return io.print(JSON.stringify({ ...encoded({ dir, progress }, io), ...more }))
  }
  if (!progress) return io.print(`${shownPath(dir, io)}  not compiled`)
  for (const line of detailLines(progress, io, history)) io.print(line)
  if (progress.status !== 'in-progress') return
  io.print(`owner: ${ownerOf(dir) ?? `none; resume with: ralph run ${shownPath(dir, io)}`}`)
}

const encodedHistory = ({ iterations, steps, hookTasks }: History) => ({
  iterations: iterations.map((record) => z.encode(IterationRecord, record)),
  steps: steps.map((step) => z.encode(Step, step)),
  'hook-tasks': hookTasks.map((task) => z.encode(HookTask, task)),
})

const shownSteps = 20
const shownReceipts = 5

/** The status of one sprint, with its last steps and receipts, or all of them. */
export function detailLines(progress: Progress, io: Io, history?: History): string[] {
  const paint = paintFor(io.color)
  const { stats, live, humanNeeded, parked, reason } = progress
  const width = io.columns()
  const [question = '', ...more] = humanNeeded ? questionLines(humanNeeded) : []
  const mode = live[0] ? ` ${live[0].mode}` : ''
  const age = stats.updatedAt === undefined ? '' : `, last event ${ageText(io.now() - stats.updatedAt)} ago`
  const marks = { completed: paint.green('✓'), pending: '○' }
  const steps = history?.steps ?? progress.dynamicSteps.slice(-shownSteps)
  const receipts = receiptTable(history?.iterations ?? progress.iterations.slice(-shownReceipts), { width, paint })
  return [
    `${paint.bold(progress.sprintId)}  ${progress.status}${age}${reason ? `: ${oneLine(reason)}` : ''}`,
    clip(oneLine(progress.goal), width),
    `iteration ${iterationText(progress)}${mode}  ${humanDuration(stats.activeMs)}  ${money(stats)}  ${tokens(stats.usage)}`,
    ...(parked ? [paint.yellow(parkedLine(parked, io))] : []),
    ...(question === '' ? [] : [paint.yellow(question), ...more]),
    ...phaseLines(progress, { paint, width }),
    ...steps.map((step) => `  ${marks[step.status]} ${step.id}  ${clip(oneLine(step.prompt), width - 16)}`),
    ...(receipts.length > 0 ? ['', ...receipts] : []),
  ]
}

function parkedLine({ until, reason }: NonNullable<Progress['parked']>, io: Io): string {
  const left = until - io.now()
  const when = left > 0 ? `resumes in ${humanDuration(left)}, at ${formatTimestamp(until)}` : 'can be resumed'
  return `${when}: ${oneLine(reason)}`
}
