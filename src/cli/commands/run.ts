import { resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { parseDuration } from '../../contract/time.ts'
import { exists } from '../../platform/files/files.ts'
import { createSprintFolder, openSprintFolder, sprintPath } from '../../storage/state/sprint-folder.ts'
import { chooseAgents } from '../agents/choose-agent.ts'
import { createCiOutput, isCi } from '../ci/ci-output.ts'
import { defineCommand, parsePositiveNumber } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { createGoalSprint } from '../sprint/new-sprint.ts'
import { runInTerminal } from '../run/run-in-terminal.ts'
import { displayPath } from '../io/display-path.ts'
import { renderSprintYaml } from '../sprint/sprint-files.ts'

const options = {
  goal: {
    type: 'string',
    short: 'g',
    value: 'TEXT',
    description: 'create a sprint for this goal and run it; no YAML needed',
  },
  check: {
    type: 'string',
    value: 'COMMAND',
    description: 'with --goal: command that must pass before the goal counts as reached; "none" for no check',
  },
  proof: {
    type: 'string',
    value: 'WORD',
    description: 'required or optional: whether done needs a test that fails without the change; for this run',
  },
  agent: {
    type: 'string',
    short: 'a',
    value: 'NAME',
    description: 'agent program; default: from SPRINT.yaml, else the first one installed',
  },
  model: {
    type: 'string',
    short: 'm',
    value: 'NAME',
    description: "model; default: from SPRINT.yaml, else the agent's default",
  },
  'max-iterations': {
    type: 'string',
    short: 'n',
    value: 'N',
    description: 'stop after this many iterations in total (exit 3)',
  },
  'budget-usd': { type: 'string', value: 'N', description: 'stop when the sprint has cost this much (exit 3)' },
  'max-duration': {
    type: 'string',
    value: 'D',
    description: 'stop after this much working time, e.g. 30m or 2h (exit 3)',
  },
  workflows: {
    type: 'string',
    short: 'w',
    value: 'DIR',
    description: 'folder with workflows; default: .claude/workflows of the project',
  },
  'accept-changes': {
    type: 'boolean',
    description: 'apply changes of SPRINT.yaml, its workflow or the user configuration since the start',
  },
  rebind: { type: 'boolean', description: 'the sprint folder was moved: continue with the state of its old path' },
  plain: { type: 'boolean', description: 'print plain lines, even on a terminal' },
  ci: {
    type: 'boolean',
    description: 'print plain lines and annotations, and write a job summary; automatic in GitHub Actions',
  },
  'no-keep-awake': { type: 'boolean', description: 'allow the machine to sleep while the sprint runs' },
  json: { type: 'boolean', description: 'print one JSON event per line' },
} as const

/** One command under two names: running a stopped sprint resumes it. */
const createRunCommand = (name: 'run' | 'resume', summary: string) =>
  defineCommand({
    name,
    summary,
    arguments: ['[sprint-dir]'],
    options,
    details: `Ctrl-C once: finish the iteration, then pause. Twice: stop now; the same command resumes the sprint.
Limits given here apply to this run; the counters of a resumed sprint continue.`,
    examples: [
      'ralph run --goal "Make all tests pass" --max-iterations 20',
      'ralph run .claude/sprints/2026-11-15_auth',
    ],
    async run({ values, positionals: [given] }, io) {
      const limits = {
        iterations: parsePositiveNumber(values['max-iterations'], '--max-iterations'),
        usd: parsePositiveNumber(values['budget-usd'], '--budget-usd', 'any'),
        durationMs: parseDurationFlag(values['max-duration']),
      }
      const proof = parseProofFlag(values.proof)
      const ci = isCi(values.ci, io.env) ? createCiOutput(io) : undefined
      const shown = ci && values.json !== true ? ci.io : io
      const keepAwake = values['no-keep-awake'] !== true
      try {
        const sprintDir = await resolveSprintFolder(given, values, shown)
        return await runInTerminal({ sprintDir, limits, ...values, proof, ci, keepAwake }, shown)
      } catch (error) {
        if (values.json !== true) ci?.showError(error)
        throw error
      }
    },
  })

export const run = createRunCommand('run', 'Run a sprint until its goal is reached')
export const resume = createRunCommand('resume', 'Resume a sprint (same as run)')

function parseDurationFlag(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms > 0) return ms
  throw new RalphError('USAGE', `--max-duration expects a duration such as 30m or 2h, not "${text}"`)
}

function parseProofFlag(text: string | undefined): 'required' | 'optional' | undefined {
  if (text === undefined || text === 'required' || text === 'optional') return text
  throw new RalphError('USAGE', `--proof is "required" or "optional", not "${text}"`)
}

async function resolveSprintFolder(
  given: string | undefined,
  values: { readonly goal?: string; readonly agent?: string; readonly check?: string },
  io: Io,
): Promise<string> {
  const { goal, agent, check } = values
  if (goal === undefined) {
    if (check !== undefined)
      throw new RalphError('USAGE', 'run: --check belongs to a new sprint with --goal "…"', {
        hint: 'write "done-when: [{run: …}]" into the SPRINT.yaml of this one',
      })
    if (given !== undefined) return openSprintFolder(given)
    throw new RalphError('USAGE', 'run: missing sprint folder or --goal "…"', {
      hint: 'see: ralph run --help',
    })
  }
  if (goal.trim() === '')
    throw new RalphError('RALPH_MISSING_GOAL', 'the goal is empty', { hint: 'describe what the agent should achieve' })
  // Checked again later. Checking here avoids creating a folder when no agent is installed.
  chooseAgents(agent === undefined ? undefined : [agent], io)
  const checks = check === undefined ? undefined : check === 'none' ? [] : [check]
  if (given === undefined) {
    const folder = await createGoalSprint({ goal, agent, checks }, io)
    io.printError(`new sprint in ${displayPath(folder, io)}`)
    return folder
  }
  const folder = resolve(io.cwd, given)
  if (exists(sprintPath(folder))) {
    throw new RalphError('USAGE', `run: ${given} already has a SPRINT.yaml with a goal`, {
      hint: 'omit --goal, or choose another folder',
    })
  }
  await createSprintFolder(folder, renderSprintYaml({ goal, agent, checks }))
  return folder
}
