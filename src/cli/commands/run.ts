import { RalphError } from '../../contract/errors.ts'
import { parseDuration } from '../../contract/time.ts'
import { createCiOutput, isCi } from '../ci/ci-output.ts'
import { defineCommand, parsePositiveNumber } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { chooseSprint, planSprint, type ChosenSprint, type SprintRequest } from '../run/choose-sprint.ts'
import { showDryRun } from '../run/preflight.ts'
import { readGoal } from '../run/read-goal.ts'
import { runInTerminal } from '../run/run-in-terminal.ts'
import { startInBackground, type RunFlags } from '../run/start-in-background.ts'
import { compileSprint, printDiagnostics } from '../sprint/compile-sprint.ts'
import { sprintName } from '../sprint/find-sprint.ts'
import { loadEditedProgress } from '../sprint/sprint-state.ts'

/** Flags of every command that runs a sprint. */
export const runOptions = {
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
  proof: {
    type: 'string',
    value: 'WORD',
    description: 'required or optional: whether done needs a test that fails without the change; for this run',
  },
  'accept-changes': {
    type: 'boolean',
    description: 'apply changes of SPRINT.yaml, its workflow or the user configuration since the start',
  },
  rebind: { type: 'boolean', description: 'the sprint folder was moved: continue with the state of its old path' },
  detach: { type: 'boolean', short: 'd', description: 'run in the background; see: ralph watch, ralph stop' },
  plain: { type: 'boolean', description: 'print plain lines, even on a terminal' },
  ci: {
    type: 'boolean',
    description: 'print plain lines and annotations, and write a job summary; automatic in GitHub Actions',
  },
  'no-keep-awake': { type: 'boolean', description: 'allow the machine to sleep while the sprint runs' },
  json: { type: 'boolean', description: 'print one JSON event per line' },
} as const

const options = {
  goal: {
    type: 'string',
    short: 'g',
    value: 'TEXT',
    description: 'create a sprint for this goal and run it; "-" reads stdin, "@FILE" a file',
  },
  'goal-file': { type: 'string', value: 'FILE', description: 'read the goal from a file' },
  check: {
    type: 'string',
    value: 'COMMAND',
    description: 'with a new goal: command that must pass; default: detected, "none" for no check',
  },
  resume: { type: 'boolean', description: 'resume the unfinished sprint with this goal, without asking' },
  new: { type: 'boolean', description: 'create a new sprint even if an unfinished one has this goal' },
  'dry-run': {
    type: 'boolean',
    description: 'show what the run depends on and its first prompt; start and write nothing',
  },
  worktree: { type: 'boolean', description: 'with a new goal: work in a git worktree and branch of its own' },
  ...runOptions,
} as const

/** One command under two names: running a stopped sprint resumes it. */
const createRunCommand = (name: 'run' | 'resume', summary: string) =>
  defineCommand({
    name,
    summary,
    arguments: ['[sprint or goal]'],
    options,
    details: `Takes the name of a sprint, several words as a goal, or nothing for the latest unfinished sprint.
Ctrl-C once: finish the iteration, then pause. Twice: stop now; the same command resumes the sprint.
A new goal gets limits of 50 iterations and 20 USD in its SPRINT.yaml; --max-iterations, --budget-usd and --max-duration
replace them there. On an existing sprint these flags hold for one run; its counters continue.
A finished sprint runs its checks again and reports the result.`,
    examples: [
      'ralph run "Make all tests pass" --max-iterations 20',
      'ralph run',
      'ralph run auth --budget-usd 40',
      'ralph run --goal @GOAL.md --check "make test" --detach',
    ],
    run: async ({ values, positionals: [argument] }, io) => {
      parseLimits(values)
      if (values.resume === true && values.new === true) throw new RalphError('USAGE', 'use one of --resume and --new')
      const request = {
        argument,
        goal: await readGoal(values, io),
        again: values.resume === true ? ('resume' as const) : values.new === true ? ('new' as const) : undefined,
        json: values.json,
        agent: values.agent,
        checks: values.check === undefined ? undefined : values.check === 'none' ? [] : [values.check],
        worktree: values.worktree,
        limits: limitTexts(values),
      }
      if (values['dry-run'] === true) return dryRun(request, values, io)
      return runChosen(values, io, (shown) => chooseSprint(request, shown))
    },
  })

export const run = createRunCommand('run', 'Run a sprint until its goal is reached')
export const resume = createRunCommand('resume', 'Resume a sprint (same as run)')

/** Compiles the plan of a sprint, or of a goal that has none yet, and shows it with the preflight. */
async function dryRun(request: SprintRequest, values: RunValues, io: Io): Promise<number> {
  const planned = await planSprint(request, io)
  const { progress, diagnostics } = await compileSprint(planned.sprintDir, { ...values, text: planned.text }, io)
  if (values.json !== true) printDiagnostics(diagnostics, io)
  if (!progress) {
    if (values.json === true) io.print(JSON.stringify({ valid: false, diagnostics }))
    return 1
  }
  const current =
    planned.text === undefined ? ((await loadEditedProgress(planned.sprintDir, io)) ?? progress) : progress
  return showDryRun({ sprintDir: planned.sprintDir, progress: current, agent: values.agent, json: values.json }, io)
}

/** The values of `runOptions`. */
export type RunValues = {
  readonly [K in keyof typeof runOptions]?: (typeof runOptions)[K]['type'] extends 'boolean' ? boolean : string
}

/** Chooses a sprint and runs it, here or in the background. */
export async function runChosen(values: RunValues, io: Io, choose: (io: Io) => Promise<ChosenSprint>): Promise<number> {
  const ci = isCi(values.ci, io.env) ? createCiOutput(io) : undefined
  const shown = ci && values.json !== true ? ci.io : io
  const proof = parseProofFlag(values.proof)
  try {
    const { sprintDir, isNew } = await choose(shown)
    // The SPRINT.yaml of a new sprint has the limits already.
    const limits = isNew ? parseLimits({}) : parseLimits(values)
    if (values.detach === true) return await detach(sprintDir, isNew ? { ...values, ...noLimitFlags } : values, shown)
    const keepAwake = values['no-keep-awake'] !== true
    return await runInTerminal({ ...values, sprintDir, limits, proof, ci, keepAwake }, shown)
  } catch (error) {
    if (values.json !== true) ci?.showError(error)
    throw error
  }
}

const noLimitFlags = { 'max-iterations': undefined, 'budget-usd': undefined, 'max-duration': undefined }

async function detach(sprintDir: string, values: RunFlags, io: Io): Promise<number> {
  const { json } = values
  // Not the goal: the new sprint has it, and the background process has no stdin to read it from.
  const names = Object.keys(runOptions).filter((name) => !['detach', 'plain', 'json'].includes(name))
  const flags = Object.fromEntries(names.map((name) => [name, values[name]]))
  const name = await sprintName(sprintDir, io)
  const started = await startInBackground(sprintDir, flags, io)
  if (json === true) io.print(JSON.stringify(started))
  else if (started.running) {
    io.print(`${name} runs in the background (pid ${started.pid})`)
    io.print(`watch it with: ralph watch ${name}`)
    io.print(`stop it with: ralph stop ${name}`)
    io.print(`output: ${started.log}`)
  } else io.print(started.output.trimEnd())
  return started.running ? 0 : started.exitCode
}

type LimitFlags = Pick<RunValues, 'max-iterations' | 'budget-usd' | 'max-duration'>

const parseLimits = (values: LimitFlags) => ({
  iterations: parsePositiveNumber(values['max-iterations'], '--max-iterations'),
  usd: parsePositiveNumber(values['budget-usd'], '--budget-usd', 'any'),
  durationMs: parseDurationFlag(values['max-duration']),
})

const limitTexts = (values: LimitFlags) => ({
  iterations: values['max-iterations'],
  usd: values['budget-usd'],
  duration: values['max-duration'],
})

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
