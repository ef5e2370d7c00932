import { basename, extname, join, resolve } from 'node:path'
import { RalphError } from '../../../contract/errors.ts'
import { parseDuration } from '../../../contract/time.ts'
import { exists, createFolder, readTextIfExists, writeNewFile } from '../../../platform/files/files.ts'
import { findChecks } from '../../../host/find-checks.ts'
import { progressPath, sprintPath } from '../../../storage/state/sprint-folder.ts'
import { assetPath } from '../../io/assets.ts'
import { installedAgents } from '../../agents/choose-agent.ts'
import { defineCommand, parsePositiveNumber } from '../../io/command.ts'
import { importPlan } from '../../sprint/import-plan.ts'
import { runInterview, type InterviewAnswers, type KnownAnswers } from '../../init/questions.ts'
import { fillSprintTemplate, findTemplate, listSprintTemplates, type SprintTemplate } from '../../init/template.ts'
import { createTerminalInterview } from '../../io/terminal-interview.ts'
import type { Io } from '../../io/io.ts'
import { findFreeName, createSprint, newSprintFolder } from '../../sprint/new-sprint.ts'
import { sprintName } from '../../sprint/find-sprint.ts'
import { displayPath } from '../../io/display-path.ts'
import {
  placeholderGoal,
  renderSprintYaml,
  slugFromGoal,
  type LimitInputs,
  type SprintInputs,
} from '../../sprint/sprint-files.ts'

export const init = defineCommand({
  name: 'init',
  summary: 'Create a sprint folder with a commented SPRINT.yaml',
  arguments: ['[name]'],
  options: {
    goal: { type: 'string', short: 'g', value: 'TEXT', description: 'what the agent should achieve' },
    template: {
      type: 'string',
      short: 't',
      value: 'NAME',
      description: 'feature, bug, refactor, tests, docs, migration or research',
    },
    'list-templates': { type: 'boolean', description: 'list the templates' },
    from: {
      type: 'string',
      value: 'FILE',
      description: 'import goal and steps from PROGRESS.yaml, prd.json, a plan with checkboxes, or a prompt',
    },
    check: {
      type: 'string',
      value: 'COMMAND',
      description: 'command that must pass before the goal counts as reached; "none" for no check',
    },
    agent: { type: 'string', short: 'a', value: 'NAME', description: 'agent program, e.g. claude' },
    'max-iterations': { type: 'string', short: 'n', value: 'N', description: 'stop after this many iterations' },
    'budget-usd': { type: 'string', value: 'N', description: 'stop when the sprint has cost this much' },
    'max-duration': { type: 'string', value: 'D', description: 'stop after this much working time, e.g. 30m or 2h' },
    yes: { type: 'boolean', short: 'y', description: 'do not ask; use defaults for everything that is not given' },
    'write-workflow': {
      type: 'boolean',
      description: 'also write the bundled ralph workflow to .claude/workflows, for editing',
    },
    json: { type: 'boolean', description: 'print {folder} as JSON; does not ask' },
  },
  details: `Creates .claude/sprints/<date>_<name>. Existing files are never overwritten.
On a terminal, it asks for missing values: goal, check, agent, limits. Press Enter to accept the default; Ctrl-C cancels without writing anything.`,
  examples: [
    'ralph init',
    'ralph init auth --goal "Build JWT authentication" --template feature --yes',
    'ralph init --from prd.json',
    'ralph init --from ../old/PROGRESS.yaml',
    'ralph init --write-workflow',
  ],
  async run({ values, positionals: [name] }, io) {
    if (values['list-templates'] === true) return listTemplates(values.json === true, io)
    if (name !== undefined && !/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(name)) {
      throw new RalphError('USAGE', `init: "${name}" is not a valid folder name`, {
        hint: 'use letters, digits, ".", "_" and "-"',
      })
    }
    if (name !== undefined) refuseExisting(name, io)
    const template = values.template === undefined ? undefined : await findTemplate(values.template)
    const plan = await readPlan(values.from, io)
    const known = await knownAnswers({ ...values, goal: values.goal ?? plan?.goal }, template, io)
    const asks = values.yes !== true && values.json !== true && io.canAsk
    const answers = asks ? await askOnTerminal(known) : known
    if (!answers) {
      io.printError('\ncancelled; nothing was written')
      return 130
    }
    const title = values.goal ?? plan?.name ?? answers.goal ?? template?.name ?? ''
    const text = renderSprintFile(
      { ...answers, steps: plan?.steps, settings: plan?.settings },
      template,
      known.foundChecks,
    )
    const quiet = values.json === true ? { ...io, printError: () => {} } : io
    const folder = await createSprint(name ?? findFreeName(slugFromGoal(title), io), text, quiet)
    if (plan?.progressYaml !== undefined) await writeNewFile(progressPath(folder), plan.progressYaml)
    if (values['write-workflow'] === true) await writeWorkflow(io)
    if (values.json === true) io.print(JSON.stringify({ folder: displayPath(folder, io) }))
    else for (const line of [...(asks ? [''] : []), ...(await initHint(folder, answers.goal, io))]) io.print(line)
    return 0
  },
})

async function listTemplates(asJson: boolean, io: Io): Promise<number> {
  const known = (await listSprintTemplates()).map(({ name, summary }) => ({ name, summary }))
  if (asJson) io.print(JSON.stringify({ templates: known }))
  else for (const { name, summary } of known) io.print(`${name.padEnd(10)}  ${summary}`)
  return 0
}

async function readPlan(from: string | undefined, io: Io) {
  if (from === undefined) return undefined
  const text = await readTextIfExists(resolve(io.cwd, from))
  if (text === undefined) throw new RalphError('FILE_NOT_FOUND', 'file not found', { place: { file: from } })
  return { ...importPlan(from, text), name: basename(from, extname(from)) }
}

type InitFlags = {
  readonly goal?: string | undefined
  readonly check?: string
  readonly agent?: string
  readonly 'max-iterations'?: string
  readonly 'budget-usd'?: string
  readonly 'max-duration'?: string
}

const defaultInitLimits: LimitInputs = { iterations: '40', usd: '10', duration: 'off' }

async function knownAnswers(flags: InitFlags, template: SprintTemplate | undefined, io: Io): Promise<KnownAnswers> {
  const { goal, check, agent } = flags
  return {
    goal,
    checks: check === undefined ? undefined : check === 'none' ? [] : [check],
    agent,
    limits: limitsFromFlags(flags),
    foundChecks: (await findChecks(io.cwd)).map(({ run }) => run),
    foundAgents: installedAgents(io).map((driver) => driver.name),
    defaultLimits: template ? limitsInTemplate(template.text) : defaultInitLimits,
  }
}

/** Validated here, so that init never writes a file that does not compile. */
function limitsFromFlags(flags: InitFlags): LimitInputs {
  const duration = flags['max-duration']
  if (duration !== undefined && !(parseDuration(duration) > 0)) {
    throw new RalphError('USAGE', `--max-duration expects a duration such as 30m or 2h, not "${duration}"`)
  }
  return {
    iterations: parsePositiveNumber(flags['max-iterations'], '--max-iterations')?.toString(),
    usd: parsePositiveNumber(flags['budget-usd'], '--budget-usd', 'any')?.toString(),
    duration,
  }
}

const limitsInTemplate = (text: string): LimitInputs =>
  Object.fromEntries(
    ['iterations', 'usd', 'duration'].map((name) => [name, new RegExp(`^ {2}${name}: (.*)$`, 'm').exec(text)?.[1]]),
  )

async function askOnTerminal(known: KnownAnswers): Promise<InterviewAnswers | undefined> {
  const talk = createTerminalInterview()
  try {
    return await runInterview(known, talk)
  } finally {
    talk.close()
  }
}

type InitSprint = InterviewAnswers & Pick<SprintInputs, 'steps' | 'settings'>

/** Writes the checks found in this project into the template. */
function renderSprintFile(sprint: InitSprint, template: SprintTemplate | undefined, found: readonly string[]): string {
  if (!template) return renderSprintYaml({ ...sprint, goal: sprint.goal ?? placeholderGoal })
  return fillSprintTemplate(template.text, {
    ...sprint,
    checks: sprint.checks ?? (found.length > 0 ? found : undefined),
  })
}

/** Runs before the first question. */
function refuseExisting(name: string, io: Io): void {
  const file = sprintPath(newSprintFolder(name, io))
  if (!exists(file)) return
  throw new RalphError('SPRINT_EXISTS', 'the sprint already exists', { place: { file: displayPath(file, io) } })
}

async function initHint(folder: string, goal: string | undefined, io: Io): Promise<string[]> {
  const next = goal === undefined ? 'fill in the goal, then' : 'review it, then'
  return [`${displayPath(folder, io)}/SPRINT.yaml written`, `${next}: ralph run ${await sprintName(folder, io)}`]
}

async function writeWorkflow(io: Io): Promise<void> {
  const folder = join(io.cwd, '.claude', 'workflows')
  const file = join(folder, 'ralph.yaml')
  if (exists(file)) {
    throw new RalphError('SPRINT_EXISTS', 'the workflow already exists', { place: { file: displayPath(file, io) } })
  }
  await createFolder(folder)
  await writeNewFile(file, (await readTextIfExists(assetPath('workflows/ralph.yaml'))) ?? '')
  io.print(`${displayPath(file, io)} written`)
}
