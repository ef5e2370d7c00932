import { resolve } from 'node:path'
import { formatPlace, RalphError } from '../../contract/errors.ts'
import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { isErrorDiagnostic, type Diagnostic } from '../../compiler/parse/diagnostics.ts'
import { hasPauseFile } from '../../storage/state/sprint-folder.ts'
import { processIo, type Io } from '../io/io.ts'
import { compilePlan, type SprintPlan } from '../sprint/compile-plan.ts'
import { openRun, type OpenedRun } from './open-run.ts'
import { acceptRequests } from './run-control.ts'

export type ProgramRunOptions = {
  /** Default: as in SPRINT.yaml, else the first one installed. */
  readonly agent?: string | undefined
  readonly model?: string | undefined
  /** Over the whole sprint. */
  readonly maxIterations?: number | undefined
  readonly budgetUsd?: number | undefined
  readonly maxDurationMs?: number | undefined
  /** Default: `.claude/workflows` of the project, then the bundled ones. */
  readonly workflowsDir?: string | undefined
  /** Applies changes of SPRINT.yaml since the start; otherwise a changed plan is the error PLAN_CHANGED. */
  readonly acceptChanges?: boolean | undefined
  readonly onEvent?: ((event: SprintEvent) => void) | undefined
  /** Ends the attempt; the sprint is then `interrupted`, and the next call resumes it. */
  readonly signal?: AbortSignal | undefined
}

/** Runs a sprint for another program as `ralph run` does: without a terminal, without questions, without signal handlers. */
export async function runInProgram(
  sprintDir: string,
  mode: Progress['mode'],
  options: ProgramRunOptions,
): Promise<Progress> {
  options.signal?.throwIfAborted()
  const io: Io = { ...processIo, ...silence, env: { ...process.env }, cwd: process.cwd() }
  const place = resolve(io.cwd, sprintDir)
  const plan = await compileOrThrow(place, options, io)
  if (plan.configured.mode !== mode) {
    throw new RalphError('USAGE', `the sprint is in ${plan.configured.mode} mode, not in ${mode} mode`, {
      place: { file: sprintDir },
    })
  }
  const { maxIterations: iterations, budgetUsd: usd, maxDurationMs: durationMs, agent, model } = options
  const opened = await openRun(
    {
      sprintDir: place,
      limits: { iterations, usd, durationMs },
      json: true,
      'accept-changes': options.acceptChanges === true,
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
    },
    plan,
    io,
  )
  try {
    if (opened.isPausedByEdit || hasPauseFile(place)) return opened.progress
    return await runOpened(opened, options, io)
  } finally {
    await opened.close()
  }
}

const silence = {
  print: () => {},
  write: () => {},
  printError: () => {},
  canRedraw: false,
  canAsk: false,
  useColor: false,
}

async function compileOrThrow(sprintDir: string, { workflowsDir }: ProgramRunOptions, io: Io): Promise<SprintPlan> {
  const { plan, diagnostics } = await compilePlan({ sprintDir, workflows: workflowsDir }, io)
  if (plan) return plan
  const [first, ...others] = diagnostics.filter(isErrorDiagnostic)
  if (!first) throw new RalphError('SPRINT_LOAD_ERROR', 'the sprint does not compile', { place: { file: sprintDir } })
  const { code, message, place, hint } = first
  const rest = others.length === 0 ? '' : `; ${others.map(describeDiagnostic).join('; ')}`
  throw new RalphError(code, `${message}${rest}`, { ...(place && { place }), ...(hint !== undefined && { hint }) })
}

const describeDiagnostic = ({ code, message, place }: Diagnostic): string =>
  `${place ? `${formatPlace(place)} ` : ''}${code} ${message}`

async function runOpened(opened: OpenedRun, { onEvent, signal }: ProgramRunOptions, io: Io): Promise<Progress> {
  const { sprintDir, store, notices } = opened
  const show = (event: SprintEvent) => onEvent?.(event)
  for (const notice of notices) show({ type: 'note', ...notice })
  const run = await opened.start(show)
  const stopListening = await acceptRequests({ sprintDir, run, store, view: { show } }, io)
  const interrupt = () => run.send({ type: 'stop-requested', at: io.now(), as: 'interrupted', when: 'now' })
  if (signal?.aborted === true) interrupt()
  signal?.addEventListener('abort', interrupt)
  const ended = await run.done.finally(() => {
    signal?.removeEventListener('abort', interrupt)
    stopListening()
  })
  await store.flush()
  return ended
}
