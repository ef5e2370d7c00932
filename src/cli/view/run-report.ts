import { join } from 'node:path'
import type { Driver } from '../../agents/drivers/driver.ts'
import type { Progress, RunLimits, SprintStatus } from '../../contract/progress.ts'
import { findRepository } from '../../storage/git/status.ts'
import { findProject, progressPath } from '../../storage/state/sprint-folder.ts'
import { statusWords } from '../../words/status.ts'
import type { Io } from '../io/io.ts'
import { clipLine, toOneLine, toShortGoal } from '../../words/text.ts'
import { formatHumanDuration } from '../../words/durations.ts'
import { createPaint, type TerminalPaint } from '../io/paint.ts'
import { printWrapped } from '../io/print-wrapped.ts'
import { resumeCommand } from './raised-limits.ts'
import { bestIteration, questionLines } from './receipt.ts'
import { missingVariable } from '../agents/missing-variable.ts'
import { isRootRefusal } from '../agents/root-refusal.ts'
import { signInCommand } from '../agents/sign-in-command.ts'
import { removedWorktreeBranch } from '../sprint/changes.ts'
import { findIterationAgent } from '../sprint/iteration-agent.ts'
import { formatCount, pluralize } from '../../words/counts.ts'
import { formatCap, formatCost } from '../../words/money.ts'
import { displayPath } from '../io/display-path.ts'
import { describeExit } from '../../words/proof-text.ts'
import { describeOpenWalls } from '../../words/walls.ts'

/** The plan of a run, printed before it starts. */
export function printHead(
  progress: Progress,
  { driver, found, runLimits }: { driver: Driver; found: Progress['doneWhen']; runLimits?: RunLimits | undefined },
  io: Io,
): void {
  const paint = createPaint(io.useColor)
  const checks = progress.doneWhen ?? found ?? []
  const names = checks.map(({ name, run }) => (name === undefined ? run : `${name} (${run})`)).join(', ')
  const how = progress.doneWhen ? '' : '  detected; disable with "done-when: []" in SPRINT.yaml'
  const none =
    'no check found: Ralph will accept the agent\'s claim unchecked; add "done-when:" to SPRINT.yaml, or give --check with the goal'
  io.print(`${paint.bold('ralph')}  ${progress.sprintId}`)
  const isGoal = progress.phases === undefined
  const phases = progress.phases?.map(({ id, steps }) => (steps ? `${id} (${steps.length} items)` : id)).join(', ')
  if (isGoal || progress.goal !== '')
    io.print(`${paint.dim('goal')}       ${clipLine(toShortGoal(progress.goal), io.columns() - 12)}`)
  if (phases !== undefined) io.print(`${paint.dim('phases')}     ${clipLine(phases, io.columns() - 12)}`)
  io.print(`${paint.dim('agent')}      ${driver.name}${progress.model ? ` ${progress.model}` : ''}`)
  if (isGoal || names !== '')
    io.print(`${paint.dim('done when')}  ${names === '' ? paint.yellow(none) : `${names}${paint.dim(how)}`}`)
  io.print(`${paint.dim('limits')}     ${limitText(progress, runLimits)}`)
}

/** `50 iterations, $20`; limits of the command line hold for one run. */
export function limitText({ limits }: Progress, runLimits: RunLimits = {}): string {
  const { iterations = limits.iterations, usd = limits.usd, durationMs = limits.duration } = runLimits
  const parts = [
    ...(iterations === 'off' ? [] : [pluralize(iterations, 'iteration')]),
    ...(usd === 'off' ? [] : [formatCap(usd)]),
    ...(limits.tokens === 'off' ? [] : [`${formatCount(limits.tokens)} tokens`]),
    ...(durationMs === 'off' ? [] : [`${formatHumanDuration(durationMs)} of work`]),
  ]
  return parts.length === 0 ? 'none' : parts.join(', ')
}

export type NamedSprint = { readonly sprintDir: string; readonly name: string }

/** The result, where the files are, and what to do next. */
export function printEnd(progress: Progress, sprint: NamedSprint, io: Io): void {
  const more = { ...bestLine(progress, sprint.name), ...placeLines(progress, sprint, io) }
  printWrapped([...summaryLines(progress, more, io), ...nextSteps(progress, sprint.name)], io)
}

function summaryLines(progress: Progress, places: Readonly<Record<string, string>>, io: Io): string[] {
  const paint = createPaint(io.useColor)
  const { stats, status, reason, iterations } = progress
  const done = status === 'completed'
  const refused = iterations.filter(({ verdict }) => verdict === 'refused').length
  const checks = (progress.doneWhen ?? []).map(({ name, run }) => name ?? run).join(', ') || 'none'
  const rows: [string, string][] = [
    [
      'iterations',
      `${stats.currentIteration}${refused > 0 ? `, ${refused} ${progress.phases ? 'refused by a gate' : 'with a refused claim'}` : ''}`,
    ],
    ...countLines(progress),
    ['checks', done && checks !== 'none' ? `${checks} ✓` : checks],
    ...proofRow(progress),
    ...wallsRow(progress),
    ['time', `${formatHumanDuration(stats.activeMs)}, ${formatCost(stats)}`],
    ...Object.entries(places),
  ]
  const ending = done && progress.phases ? 'all phases completed' : statusWords[status].ending
  const head = `${endMark(progress, paint)} ${paint.bold(ending)}${doubtText(progress, paint)}${reason && !reason.startsWith(ending) ? `: ${toOneLine(reason)}` : ''}`
  return ['', head, ...rows.map(([name, value]) => `  ${paint.dim(name.padEnd(12))} ${value}`)]
}

const endMark = ({ status }: Progress, paint: TerminalPaint): string =>
  status === 'completed' ? paint.green('✓') : paint.yellow('■')

/** A goal that no check confirmed must not look like one that a check did. */
function doubtText({ status, ralphExit }: Progress, paint: TerminalPaint): string {
  if (status !== 'completed') return ''
  if (ralphExit.unchecked === true) return paint.yellow(', unchecked: no check confirmed it')
  return ralphExit.unproven === true ? paint.yellow(', unproven') : ''
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
  const { stats, phases } = progress
  const steps = `${stats.completedSteps} of ${stats.totalSteps} completed`
  if (!phases) return stats.totalSteps > 0 ? [['steps', steps]] : []
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

function placeLines(progress: Progress, { sprintDir, name }: NamedSprint, io: Io): Record<string, string> {
  const { status, worktree } = progress
  const hasRepository = findRepository(findProject(sprintDir, io.cwd)) !== undefined
  const removed = removedWorktreeBranch(progress)
  const isCommitted = worktree !== undefined && progress.worktreeState !== undefined
  return {
    progress: displayPath(progressPath(sprintDir), io),
    transcripts: displayPath(join(sprintDir, 'transcripts'), io),
    ...(hasRepository && { diff: removed === undefined ? `ralph diff ${name}` : `git diff HEAD...${removed}` }),
    ...(hasRepository &&
      status === 'completed' &&
      (isCommitted ? { merge: `git merge ${worktree.branch}` } : { commit: `ralph finish ${name}` })),
  }
}

function nextSteps(progress: Progress, name: string): string[] {
  const { status, humanNeeded, failure } = progress
  if (humanNeeded && (failure?.class === 'auth' || isRootRefusal(progress)))
    return ['', ...questionLines(humanNeeded), '', accessHint(progress, humanNeeded.reason, name)]
  if (humanNeeded) {
    const how = `answer with: ralph answer ${name} ${exampleAnswer(humanNeeded)}   then: ${resumeCommand(name, progress)}`
    return ['', ...questionLines(humanNeeded), '', how]
  }
  if (status === 'completed') return []
  if (status === 'limit-reached') return ['', `resume with a higher limit: ${resumeCommand(name, progress)}`]
  return ['', `resume with: ${resumeCommand(name, progress)}`]
}

/** The number of the default, or of the first option: the command works as it is printed. */
function exampleAnswer({ options = [], default: preset }: NonNullable<Progress['humanNeeded']>): string {
  return options.length === 0 ? '"…"' : String(Math.max(0, options.indexOf(preset ?? '')) + 1)
}

/** What to do about an agent that cannot work until the user fixes its access. */
function accessHint(progress: Progress, reason: string, name: string): string {
  if (isRootRefusal(progress))
    return `use another user or a sandbox, or set IS_SANDBOX=1 if this machine is one, then: ${resumeCommand(name, progress)}`
  const variable = missingVariable(reason)
  if (variable !== undefined)
    return `set ${variable}, add "env: { pass: [${variable}] }" to SPRINT.yaml, then: ${resumeCommand(`${name} --accept-changes`, progress)}`
  const agent = findIterationAgent(progress, progress.stats.currentIteration)
  return `sign in with: ${signInCommand(agent)}   then: ${resumeCommand(name, progress)}`
}
