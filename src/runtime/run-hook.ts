import type { AgentEvent } from '../contract/events.ts'
import { mergeUsage, type Expense } from '../loop/core/cost.ts'
import type { Hook } from '../contract/settings.ts'
import type { Fact } from '../loop/core/fact.ts'
import { getRemainingBudget, describeSpentLimit } from '../loop/core/limits.ts'
import { fromProgress } from '../loop/progress-codec.ts'
import { fillHookPrompt } from '../contract/prompt-variables.ts'
import type { OrderContext, OrderByType } from './context.ts'
import { errorMessage } from '../contract/errors.ts'
import { pickExpense } from './outcomes.ts'
import { rethrowDiskFull } from './disk-space.ts'

type HookEnd = Pick<Extract<Fact, { type: 'hook-ended' }>, 'exitCode' | 'error' | 'output' | 'spent' | 'walls'>

/** Runs one hook of one iteration: a shell command, prompts, or a slash command of the agent. */
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
  const variables = resolveHookVariables(iteration, context)
  const { run: command, workflow, prompt, calls, fallbackPrompt, timeout: timeoutMs = progress.timeouts.hook } = hook
  if (command !== undefined) {
    const end = await ports.shell.run(
      {
        ...nameCall(hook, iteration, 0),
        ifBegun: 'join',
        command,
        timeoutMs,
        env: variables,
        cell: hook.cell,
        ...showPid(hook, iteration, context),
      },
      signal,
    )
    const { exitCode, output, error, walls } = end
    return { exitCode, output, ...(error !== undefined && { error }), ...(walls && { walls }) }
  }
  const agent = ports.agents(undefined)
  const hasNoCommands = prompt === undefined && calls === undefined && agent.slashCommands === false
  if (hasNoCommands && fallbackPrompt === undefined)
    return { exitCode: null, error: `${agent.name} has no slash commands, so it cannot run /${workflow ?? ''}` }
  const own = calls ?? [prompt ?? `/${workflow} ${variables.ITERATION_TRANSCRIPT}`]
  const texts = hasNoCommands && fallbackPrompt !== undefined ? [fallbackPrompt] : own
  const { missing, ...end } = await callInTurn(
    texts.map((text) => fillHookPrompt(text, variables)),
    { hook, iteration, first: 0 },
    context,
  )
  if (missing !== true || fallbackPrompt === undefined) return end
  const { missing: _again, ...second } = await callInTurn(
    [fillHookPrompt(fallbackPrompt, variables)],
    { hook, iteration, first: 1 },
    context,
  )
  return { ...second, ...joinExpenses(end.spent, second.spent) }
}

type HookCall = { readonly hook: Hook; readonly iteration: number; readonly first: number }
/** `missing`: the agent program does not have the command. */
type CallEnd = HookEnd & { readonly missing?: true }

/** One call of the agent after the other; the first that fails ends the hook. */
async function callInTurn(prompts: readonly string[], call: HookCall, context: OrderContext): Promise<CallEnd> {
  let done: CallEnd = { exitCode: 0 }
  for (const [index, prompt] of prompts.entries()) {
    const end = await callAgent(prompt, { ...call, first: call.first + index }, context)
    done = { ...end, ...joinExpenses(done.spent, end.spent) }
    if (end.error !== undefined) break
  }
  return done
}

async function callAgent(
  prompt: string,
  { hook, iteration, first }: HookCall,
  context: OrderContext,
): Promise<CallEnd> {
  const { progress, ports, signal } = context
  const limit = describeSpentLimit(fromProgress(progress))
  if (limit !== undefined) return { exitCode: null, error: `not started: ${limit}` }
  const timeoutMs = hook.timeout ?? progress.timeouts.hook
  const agent = ports.agents(undefined)
  const command = watchForCommand(prompt, signal)
  const outcome = await agent.run(
    {
      ...nameCall(hook, iteration, first),
      ...showPid(hook, iteration, context),
      prompt,
      timeouts: { idle: timeoutMs, attempt: timeoutMs, afterResult: progress.timeouts.afterResult },
      budget: getRemainingBudget(fromProgress(progress)),
      onEvent: command.onEvent,
    },
    command.signal,
  )
  const spent = pickExpense(outcome)
  const walls = outcome.walls && { walls: outcome.walls }
  if (command.isMissing()) {
    const error = `${agent.name} has no command ${command.name}: install its plugin, or give the hook a prompt`
    return { exitCode: outcome.exitCode ?? null, error, spent, missing: true, ...walls }
  }
  if (outcome.status === 'ok') return { exitCode: 0, spent, ...walls }
  const error = outcome.reason ?? outcome.status
  return { exitCode: outcome.exitCode ?? null, error, output: outcome.text, spent, ...walls }
}

/** The agent program sends an unknown command to the model as text, so end it as soon as it says which ones it has. */
function watchForCommand(prompt: string, signal: AbortSignal) {
  const [name] = /^\/[\w.-]+:[\w.-]+/.exec(prompt) ?? []
  const missing = new AbortController()
  return {
    name,
    signal: name === undefined ? signal : AbortSignal.any([signal, missing.signal]),
    isMissing: () => missing.signal.aborted,
    onEvent: (event: AgentEvent) => {
      if (event.kind !== 'session' || name === undefined) return
      if (event.commands && !event.commands.includes(name.slice(1))) missing.abort()
    },
  }
}

/** The first call has the names of the seeds; further ones are numbered. */
function nameCall({ id }: Hook, iteration: number, index: number) {
  const suffix = index === 0 ? '' : `-${index + 1}`
  return { attempt: `${iteration}-hook-${id}${suffix}`, transcript: `iter-${iteration}-${id}${suffix}.jsonl` }
}

const showPid = ({ id: hookId }: Hook, iteration: number, { ports, send }: OrderContext) => ({
  ...(send && {
    onStart: (pid: number) => send({ type: 'hook-spawned', at: ports.clock.now(), iteration, hookId, pid }),
  }),
})

function joinExpenses(a: Expense | undefined, b: Expense | undefined): { readonly spent?: Expense } {
  if (!a || !b) return a ? { spent: a } : b ? { spent: b } : {}
  const costUsd = a.costUsd === undefined || b.costUsd === undefined ? undefined : a.costUsd + b.costUsd
  const costEstimated = a.costEstimated === true || b.costEstimated === true
  return { spent: { usage: mergeUsage(a.usage, b.usage), costUsd, ...(costEstimated && { costEstimated }) } }
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
