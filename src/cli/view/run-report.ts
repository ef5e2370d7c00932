import { isGoalDriven } from '../../contract/way.ts'
import { join } from 'node:path'
import type { Driver } from '../../agents/drivers/driver.ts'
import type { Progress, SprintStatus } from '../../contract/progress.ts'
import { progressPath } from '../../storage/state/sprint-folder.ts'
import { statusWords } from '../../words/status.ts'
import type { Io } from '../io/io.ts'
import { clipLine, toOneLine } from '../../words/text.ts'
import { formatHumanDuration } from '../../words/durations.ts'
import { createPaint } from '../io/paint.ts'
import { bestIteration, questionLines } from './receipt.ts'
import { formatCost } from '../../words/money.ts'
import { displayPath } from '../io/display-path.ts'
import { describeExit } from './proof-text.ts'
import { describeOpenWalls } from '../../words/walls.ts'

/** The plan of a run, printed before it starts. */
export function printHead(
  progress: Progress,
  { driver, found }: { driver: Driver; found: Progress['doneWhen'] },
  io: Io,
): void {
  const paint = createPaint(io.color)
  const checks = progress.doneWhen ?? found ?? []
  const names = checks.map(({ name, run }) => (name === undefined ? run : `${name} (${run})`)).join(', ')
  const how = progress.doneWhen ? '' : '  detected; disable with "done-when: []" in SPRINT.yaml'
  const none =
    'no check found: Ralph will accept the agent\'s claim unchecked; add one with "done-when:" in SPRINT.yaml'
  io.print(`${paint.bold('ralph')}  ${progress.sprintId}`)
  const isGoal = isGoalDriven(progress)
  const phases = (progress.phases ?? [])
    .map(({ id, steps }) => (steps ? `${id} (${steps.length} items)` : id))
    .join(', ')
  if (isGoal || progress.goal !== '')
    io.print(`${paint.dim('goal')}       ${clipLine(toOneLine(progress.goal), io.columns() - 12)}`)
  if (!isGoal) io.print(`${paint.dim('phases')}     ${clipLine(phases, io.columns() - 12)}`)
  io.print(`${paint.dim('agent')}      ${driver.name}${progress.model ? ` ${progress.model}` : ''}`)
  if (isGoal || names !== '')
    io.print(`${paint.dim('done when')}  ${names === '' ? paint.yellow(none) : `${names}${paint.dim(how)}`}`)
}

/** The result, where the files are, and what to do next. */
export function printEnd(progress: Progress, sprintDir: string, io: Io): void {
  const more = { ...bestLine(progress, displayPath(sprintDir, io)), ...placeLines(sprintDir, io) }
  for (const line of summaryLines(progress, more, io)) io.print(line)
  for (const line of nextSteps(progress, sprintDir, io)) io.print(line)
}

function summaryLines(progress: Progress, places: Readonly<Record<string, string>>, io: Io): string[] {
  const paint = createPaint(io.color)
  const { stats, status, reason, iterations } = progress
  const done = status === 'completed'
  const refused = iterations.filter(({ verdict }) => verdict === 'refused').length
  const checks = (progress.doneWhen ?? []).map(({ name, run }) => name ?? run).join(', ') || 'none'
  const rows: [string, string][] = [
    [
      'iterations',
      `${stats.currentIteration}${refused > 0 ? `, ${refused} ${isGoalDriven(progress) ? 'with a refused claim' : 'refused by a gate'}` : ''}`,
    ],
    ...countLines(progress),
    ['checks', done && checks !== 'none' ? `${checks} ✓` : checks],
    ...proofRow(progress),
    ...wallsRow(progress),
    ['time', `${formatHumanDuration(stats.activeMs)}, ${formatCost(stats)}`],
    ...Object.entries(places),
  ]
  const head = `${done ? paint.green('✓') : paint.yellow('■')} ${paint.bold(done && !isGoalDriven(progress) ? 'all phases completed' : statusWords[status].ending)}${reason ? `: ${toOneLine(reason)}` : ''}`
  return ['', head, ...rows.map(([name, value]) => `  ${paint.dim(name.padEnd(12))} ${value}`)]
}

function proofRow(progress: Progress): [string, string][] {
  const text = describeExit(progress)
  return text === undefined || progress.ralphExit.unchecked === true ? [] : [['proof', text]]
}

/** Says what ran with fewer walls than the default; full walls need no line. */
function wallsRow({ walls }: Progress): [string, string][] {
  const text = describeOpenWalls(walls)
  return text === undefined ? [] : [['walls', text]]
}

function countLines(progress: Progress): [string, string][] {
  const { stats, phases = [] } = progress
  const steps = `${stats.completedSteps} of ${stats.totalSteps} completed`
  if (isGoalDriven(progress)) return [['steps', steps]]
  const completed = phases.filter(({ status }) => status === 'completed').length
  const items: [string, string][] = stats.totalSteps > 0 ? [['items', steps]] : []
  return [['phases', `${completed} of ${phases.length} completed`], ...items]
}

const unfinished: ReadonlySet<SprintStatus> = new Set(['limit-reached', 'needs-human', 'failed', 'blocked'])

/** For a sprint that did not finish, the best state on the way may be better than the last. */
function bestLine(progress: Progress, folder: string): { readonly best?: string } {
  const best = bestIteration(progress)
  if (!best || !unfinished.has(progress.status)) return {}
  const { number, passed, of, isNow } = best
  const back = isNow || progress.checkpoint === false ? '' : `; restore it with: ralph restore ${folder} ${number}`
  return { best: `iteration ${number}: ${passed} of ${of} checks passed${isNow ? ' (the current files)' : back}` }
}

const placeLines = (sprintDir: string, io: Io): Record<string, string> => ({
  progress: displayPath(progressPath(sprintDir), io),
  transcripts: displayPath(join(sprintDir, 'transcripts'), io),
  diff: `ralph diff ${displayPath(sprintDir, io)}`,
})

function nextSteps({ status, humanNeeded }: Progress, sprintDir: string, io: Io): string[] {
  const folder = displayPath(sprintDir, io)
  if (humanNeeded) {
    const how = `answer with: ralph answer ${folder} "…"   then: ralph run ${folder}`
    return ['', ...questionLines(humanNeeded), '', how]
  }
  if (status === 'completed') return []
  return ['', `resume with: ralph run ${folder}`]
}
