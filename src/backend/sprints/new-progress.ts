import { stringify } from 'yaml'
import { compile } from '../../compiler/compile.ts'
import { createNewProgress } from '../../compiler/emit.ts'
import { RalphError } from '../../contract/errors.ts'
import type { StartRalphMode, StartSprint } from '../../contract/fleet/sprint.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Check } from '../../contract/check.ts'
import { defaultLimits, defaultTimeouts } from '../../contract/settings.ts'
import type { Fleet } from '../fleet/fleet.ts'

type StartOptions = Pick<StartRalphMode, 'doneWhen' | 'limits' | 'program' | 'model' | 'sandbox'>

/** Ralph Mode: no steps and no report; the agent keeps notes and deletes its lock when it is done. */
export function createNotesProgress(sprintId: string, options: StartRalphMode): Progress {
  const progress = createNewProgress({
    sprintId,
    workflow: 'ralph-mode',
    mode: 'ralph',
    goal: options.taskDescription,
    ralph: { idleThreshold: 3, minIterations: 0, idleCount: 0 },
    limits: defaultLimits,
    timeouts: defaultTimeouts,
  })
  return applyStartOptions({ ...progress, protocol: 'notes' }, options)
}

/** A planned sprint: compiled like the same files with `ralph compile`. */
export function createPlannedProgress(fleet: Fleet, sprintId: string, options: StartSprint): Progress {
  const { goal, sprintYaml, workflows = {} } = options
  if ((goal === undefined) === (sprintYaml === undefined)) {
    throw new RalphError('INVALID_REQUEST', 'give either a goal or a sprintYaml')
  }
  const ownWorkflows = new Map(Object.entries(workflows))
  const { progress, diagnostics } = compile({
    sprint: { file: 'SPRINT.yaml', text: sprintYaml ?? stringify({ workflow: 'ralph', goal }) },
    readWorkflow: (name) => {
      const text = ownWorkflows.get(name)
      return text === undefined ? fleet.compiling.readWorkflow(name) : { file: `${name}.yaml`, text }
    },
    defaultSprintId: sprintId,
    at: fleet.clock.now(),
    ...(fleet.compiling.agents && { agents: fleet.compiling.agents }),
  })
  if (!progress) {
    const [first] = diagnostics.filter(({ severity }) => severity === 'error')
    throw new RalphError(first?.code ?? 'INVALID_SPRINT', first?.message ?? 'the sprint does not compile', {
      ...(first?.hint !== undefined && { hint: first.hint }),
    })
  }
  assertSupported(progress)
  // Folders on the machine are named after the sprint, so equal names must not lead to one folder.
  return applyStartOptions({ ...progress, sprintId, protocol: 'report' }, options)
}

/** Refuses settings that only `ralph run` supports instead of ignoring them. */
function assertSupported({ notify = [], worktree }: Progress): void {
  if (notify.length > 0) {
    const hint = 'use the webhooks of the backend (Settings, Webhooks)'
    throw new RalphError('NOT_SUPPORTED', '`notify` only works with `ralph run`', { hint })
  }
  if (worktree) {
    const hint = 'create the agent with a workspace of kind `worktree`'
    throw new RalphError('NOT_SUPPORTED', '`worktree` only works with `ralph run`', { hint })
  }
}

function applyStartOptions(
  progress: Progress,
  { doneWhen, limits = {}, program, model, sandbox }: StartOptions,
): Progress {
  const { iterations, usd, tokens, durationMs, noProgress } = limits
  const own = { iterations, usd, tokens, duration: durationMs, noProgress }
  const chosenLimits = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
  const checks = doneWhen?.map(({ run, name }): Check => ({ ...toCheck, run, ...(name !== undefined && { name }) }))
  return {
    ...progress,
    limits: { ...progress.limits, ...chosenLimits },
    ...(checks && { doneWhen: checks }),
    ...(program !== undefined && { agent: [program] }),
    ...(model !== undefined && { model }),
    ...(sandbox !== undefined && { sandbox }),
  }
}

const toCheck = { timeout: 600_000, eachIteration: false, protect: false }
