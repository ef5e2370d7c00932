import { join } from 'node:path'
import { inspectAgent } from '../../agents/supervise/inspect.ts'
import { errorMessage } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { findChecks } from '../../host/find-checks.ts'
import { buildIterationPrompt } from '../../loop/prompts.ts'
import { previewIteration } from '../../loop/way-queries.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { readGitStatus } from '../../storage/git/status.ts'
import { findProject } from '../../storage/state/sprint-folder.ts'
import { pluralize } from '../../words/counts.ts'
import { formatDollars } from '../../words/money.ts'
import { clipLine, toOneLine } from '../../words/text.ts'
import { chooseAgents } from '../agents/choose-agent.ts'
import { createInspector } from '../agents/inspector.ts'
import { signInCommand } from '../agents/sign-in-command.ts'
import { resolveProtection } from '../agents/protection.ts'
import type { Driver } from '../../agents/drivers/driver.ts'
import type { Io } from '../io/io.ts'
import { createPaint } from '../io/paint.ts'
import { printWrapped } from '../io/print-wrapped.ts'
import { describeGitStatus } from './git-notice.ts'
import { listSprintFolders } from '../sprint/find-sprint.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import { limitText } from '../view/run-report.ts'

/** `stop`: the run would not get anywhere; `warn`: the user should know. */
type Finding = { readonly name: string; readonly level: 'ok' | 'warn' | 'stop'; readonly text: string }

export type DryRun = {
  readonly sprintDir: string
  readonly progress: Progress
  readonly agent?: string | undefined
  readonly json?: boolean | undefined
}

/** Shows everything that a run depends on and its first prompt, and starts nothing. Exit code 1 if the run could not work. */
export async function showDryRun({ sprintDir, progress, agent, json }: DryRun, io: Io): Promise<number> {
  const project = findProject(sprintDir, io.cwd)
  const inProject = { ...io, cwd: project }
  const driver = chooseAgent(agent === undefined ? progress.agent : [agent], inProject)
  const examined = await Promise.all([
    examineAgent(driver, inProject),
    examineProtection(progress, driver instanceof Error ? undefined : driver, io),
    examineRepository(progress, project),
    examineChecks(progress, inProject),
    estimateCost(io),
  ])
  const findings = [...examined, examineLimits(progress)]
  const due = previewIteration(progress, undefined)
  const progressFile = join(sprintDir, 'PROGRESS.yaml')
  const prompt = due && buildIterationPrompt(progress, { ...due, progressFile })
  if (json === true) io.print(JSON.stringify({ preflight: findings, prompt: prompt ?? null }))
  else printWrapped(dryRunLines(progress, findings, prompt, io), io)
  return findings.some(({ level }) => level === 'stop') ? 1 : 0
}

function dryRunLines(progress: Progress, findings: readonly Finding[], prompt: string | undefined, io: Io): string[] {
  const { bold, dim, green, yellow, red } = createPaint(io.useColor)
  const marks = { ok: green('✓'), warn: yellow('!'), stop: red('✗') }
  // The prompt is long: what needs a decision comes last, where it is on the screen.
  return [
    ...(prompt === undefined ? [] : [bold('first prompt'), '', prompt.trimEnd(), '']),
    `${bold('ralph')}  ${progress.sprintId}  ${dim('dry run: nothing is started or written')}`,
    `  ${dim('goal'.padEnd(9))}  ${clipLine(toOneLine(progress.goal), io.columns() - 14)}`,
    ...findings.map(({ name, level, text }) => `${marks[level]} ${dim(name.padEnd(9))}  ${text}`),
  ]
}

/** The agent that the run would start, or why there is none. */
function chooseAgent(requested: readonly string[] | undefined, io: Io): Driver | Error {
  try {
    return chooseAgents(requested, io).drivers[0]
  } catch (error) {
    return new Error(errorMessage(error))
  }
}

async function examineAgent(driver: Driver | Error, io: Io): Promise<Finding> {
  if (driver instanceof Error) return { name: 'agent', level: 'stop', text: driver.message }
  try {
    const { version = 'unknown version', login } = await inspectAgent(driver, createInspector(driver, io))
    const text = `${driver.name} ${version}`
    if (login !== 'no') return { name: 'agent', level: 'ok', text: `${text}${login === 'yes' ? ', signed in' : ''}` }
    return {
      name: 'agent',
      level: 'stop',
      text: `${text} is not signed in; sign in with: ${signInCommand(driver.name)}`,
    }
  } catch (error) {
    return { name: 'agent', level: 'stop', text: errorMessage(error) }
  }
}

async function examineProtection(progress: Progress, agent: Driver | undefined, io: Io): Promise<Finding> {
  try {
    const protection = await resolveProtection(progress, io)
    const isRoot = process.getuid?.() === 0
    const text = `${protection.text}${isRoot ? ', as root' : ''}`
    if (protection.sandbox !== undefined) return { name: 'sandbox', level: 'ok', text }
    const refusal = agent?.warn?.({ isRoot, sandboxed: false, env: io.env })
    return { name: 'sandbox', level: refusal ? 'stop' : 'warn', text: refusal ?? text }
  } catch (error) {
    return { name: 'sandbox', level: 'stop', text: errorMessage(error) }
  }
}

async function examineRepository({ checkpoint }: Progress, cwd: string): Promise<Finding> {
  const name = 'git'
  const status = await readGitStatus(cwd)
  if (status === undefined)
    return { name, level: 'warn', text: 'not a repository: no checkpoints, so no diff and no restore' }
  const place = describeGitStatus({ ...status, changed: 0 })
  if (checkpoint === false) return { name, level: 'warn', text: `${place}; "checkpoint: false", so no restore` }
  if (status.changed === 0) return { name, level: 'ok', text: `${place}, clean` }
  return { name, level: 'warn', text: describeGitStatus(status) }
}

/** A check whose program does not exist can never pass. */
async function examineChecks(progress: Progress, io: Io): Promise<Finding> {
  const name = 'done when'
  if (progress.phases && progress.doneWhen === undefined) return { name, level: 'ok', text: 'gates of the phases' }
  const checks = progress.doneWhen ?? (await findChecks(io.cwd))
  if (checks.length === 0)
    return { name, level: 'warn', text: 'no check: the claim of the agent is accepted unchecked; see --check' }
  const missing = checks.filter(({ run }) => !canStart(run, io))
  const names = checks.map((check) => check.name ?? check.run).join(', ')
  const [broken] = missing
  if (broken)
    return {
      name,
      level: 'stop',
      text: `${broken.run}: its program was not found; install it, or name another command with --check`,
    }
  return { name, level: 'ok', text: `${names}${progress.doneWhen ? '' : ' (detected)'}` }
}

/** False only if the command is a plain program that PATH does not have. */
function canStart(command: string, io: Io): boolean {
  const [program = ''] = command.trim().split(/\s+/)
  const isPlain = /^[\w./-]+$/.test(program) && !shellWords.has(program)
  return !isPlain || findProgram(program, io.env['PATH'] ?? '', io.cwd) !== undefined
}

const shellWords = new Set(
  'test [ true false echo cd exit set if for while case until export eval exec printf command type ! : . source time'.split(
    ' ',
  ),
)

const examineLimits = (progress: Progress): Finding => {
  const text = limitText(progress)
  return { name: 'limits', level: text === 'none' ? 'warn' : 'ok', text }
}

const estimatedSprints = 10

/** What an iteration has cost in the last sprints of this project. */
async function estimateCost(io: Io): Promise<Finding> {
  const folders = (await listSprintFolders(io)).slice(-estimatedSprints)
  const sprints = await Promise.all(folders.map((dir) => loadProgress(dir).catch(() => undefined)))
  const priced = sprints.filter(
    (sprint) => sprint !== undefined && sprint.stats.costUsd !== null && sprint.stats.costUsd > 0,
  )
  const usd = priced.reduce((sum, sprint) => sum + (sprint?.stats.costUsd ?? 0), 0)
  const iterations = priced.reduce((sum, sprint) => sum + (sprint?.stats.currentIteration ?? 0), 0)
  if (iterations === 0)
    return { name: 'cost', level: 'ok', text: 'no estimate: no sprint of this project has a cost yet' }
  const text = `about ${formatDollars(usd / iterations)} per iteration, from ${pluralize(priced.length, 'sprint')} of this project`
  return { name: 'cost', level: 'ok', text }
}
