import type { Hook } from '../contract/settings.ts'
import type { Fact } from '../loop/core/fact.ts'
import { getRemainingBudget, describeSpentLimit } from '../loop/core/limits.ts'
import { fromProgress } from '../loop/progress-codec.ts'
import { fillHookPrompt } from '../contract/hook-prompt.ts'
import type { OrderContext, OrderByType } from './context.ts'
import { errorMessage } from '../contract/errors.ts'
import { pickExpense } from './outcomes.ts'
import { rethrowDiskFull } from './disk-space.ts'

type HookEnd = Pick<Extract<Fact, { type: 'hook-ended' }>, 'exitCode' | 'error' | 'output' | 'spent' | 'walls'>

/** Runs one hook of one iteration: a shell command, a prompt, or a slash command of the agent. */
export async function runHook({ iteration, hookId }: OrderByType<'run-hook'>, context: OrderContext): Promise<Fact> {
  const hook = context.progress.perIterationHooks.find(({ id }) => id === hookId)
  const end = hook
    ? await context.ports
        .hookSlots(() => runConfiguredHook(hook, iteration, context))
        .catch(rethrowDiskFull(createFailedHook))
    : { exitCode: null, error: 'the hook is no longer configured' }
  return { type: 'hook-ended', at: context.ports.clock.now(), iteration, hookId, ...end }
}

const createFailedHook = (error: unknown): HookEnd => ({
  exitCode: null,
  error: `could not start: ${errorMessage(error)}`,
})

async function runConfiguredHook(hook: Hook, iteration: number, context: OrderContext): Promise<HookEnd> {
  const { progress, ports, signal } = context
  const attempt = `${iteration}-hook-${hook.id}`
  const transcript = `iter-${iteration}-${hook.id}.jsonl`
  const timeoutMs = hook.timeout ?? progress.timeouts.hook
  const variables = resolveHookVariables(iteration, context)
  if (hook.run !== undefined) {
    const end = await ports.shell.run(
      { attempt, ifBegun: 'join', transcript, command: hook.run, timeoutMs, env: variables, cell: hook.cell },
      signal,
    )
    const { exitCode, output, error, walls } = end
    return { exitCode, output, ...(error !== undefined && { error }), ...(walls && { walls }) }
  }
  const limit = describeSpentLimit(fromProgress(progress))
  if (limit !== undefined) return { exitCode: null, error: `not started: ${limit}` }
  const prompt = hook.prompt ?? `/${hook.workflow} ${variables.ITERATION_TRANSCRIPT}`
  const outcome = await ports.agents(undefined).run(
    {
      attempt,
      transcript,
      prompt: fillHookPrompt(prompt, variables),
      timeouts: { idle: timeoutMs, attempt: timeoutMs, afterResult: progress.timeouts.afterResult },
      budget: getRemainingBudget(fromProgress(progress)),
      onEvent: () => {},
    },
    signal,
  )
  const spent = pickExpense(outcome)
  const walls = outcome.walls && { walls: outcome.walls }
  if (outcome.status === 'ok') return { exitCode: 0, spent, ...walls }
  const error = outcome.reason ?? outcome.status
  return { exitCode: outcome.exitCode ?? null, error, output: outcome.text, spent, ...walls }
}

function resolveHookVariables(iteration: number, { progress, ports }: OrderContext) {
  const at =
    progress.live.find(({ number }) => number === iteration) ??
    progress.iterations.findLast(({ number }) => number === iteration)
  return {
    ITERATION_TRANSCRIPT: ports.agents(undefined).transcriptPath(`iteration-${iteration}.jsonl`),
    SPRINT_ID: progress.sprintId,
    ITERATION: String(iteration),
    PHASE_ID: at?.work?.phase ?? at?.step ?? at?.mode ?? '',
    ITEM_ID: (at?.work ? at.work.step : at?.step) ?? '',
  }
}
