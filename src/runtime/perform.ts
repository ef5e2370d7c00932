import { RalphError } from '../contract/errors.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { CheckResult, Progress } from '../contract/progress.ts'
import type { Check, Hook } from '../contract/settings.ts'
import { checkName } from '../loop/checks.ts'
import type { AttemptEnd, Fact } from '../loop/fact.ts'
import { fillHookPrompt } from '../loop/hook-prompt.ts'
import type { Order } from '../loop/order.ts'
import { buildPrompt } from '../loop/prompt.ts'
import { readReport } from '../loop/read-report.ts'
import type { Ports } from './ports.ts'

type Work = Exclude<Order, { type: 'tell' } | { type: 'abort' }>
type Doing<T extends Work['type']> = Extract<Work, { type: T }>

/** Carries out one order and says what happened. Nothing happened if it was aborted and is to be ordered again. */
export function perform(order: Work, progress: Progress, ports: Ports, signal: AbortSignal): Promise<Fact | undefined> {
  switch (order.type) {
    case 'run-attempt':
      return runAttempt(order, progress, ports, signal)
    case 'run-checks':
      return runChecks(order, progress, ports, signal)
    case 'run-hook':
      return runHook(order, progress, ports, signal)
    case 'wait':
      return wait(order, ports, signal)
  }
}

async function runAttempt(
  order: Doing<'run-attempt'>,
  progress: Progress,
  ports: Ports,
  signal: AbortSignal,
): Promise<Fact> {
  const { iteration, attempt } = order
  const live = progress.live.find(({ number }) => number === iteration)
  if (!live) throw new RalphError('INTERNAL', `iteration ${iteration} is not under way`)
  const prompt = buildPrompt(progress, live)
  ports.observe({ type: 'attempt-started', iteration, attempt, agent: ports.agent.name })
  const outcome = await ports.agent.run(
    {
      attempt: `${iteration}-${attempt}`,
      transcript: `iteration-${iteration}.jsonl`,
      prompt,
      timeouts: progress.timeouts,
      onEvent: (event) => ports.observe({ type: 'agent', iteration, attempt, event }),
    },
    signal,
  )
  const { usage, costUsd } = outcome
  const end = endOf(outcome, prompt)
  return {
    type: 'attempt-ended',
    at: ports.clock.now(),
    iteration,
    attempt,
    end,
    usage,
    costUsd,
    random: ports.random(),
  }
}

function endOf(outcome: Outcome, prompt: string): AttemptEnd {
  if (outcome.status === 'aborted') return { kind: 'aborted' }
  if (outcome.status === 'ok') return readReport(outcome.text, prompt, outcome.structured)
  const { class: failure = 'unknown', reason = 'the agent failed', retryable, resetsAt } = outcome
  return { kind: 'failed', class: failure, reason, retryable, resetsAt }
}

async function runChecks(order: Doing<'run-checks'>, progress: Progress, ports: Ports, signal: AbortSignal) {
  const { iteration } = order
  const results: CheckResult[] = []
  for (const check of progress.doneWhen ?? []) {
    const name = checkName(check)
    if (!order.names.includes(name)) continue
    ports.observe({ type: 'check-started', iteration, name })
    const result = await runCheck(check, { iteration, number: results.length + 1 }, ports, signal)
    if (signal.aborted) return undefined
    ports.observe({ type: 'check-ended', iteration, result })
    results.push(result)
  }
  return { type: 'checks-ended', at: ports.clock.now(), iteration, results } as const
}

async function runCheck(
  check: Check,
  { iteration, number }: { readonly iteration: number; readonly number: number },
  ports: Ports,
  signal: AbortSignal,
): Promise<CheckResult> {
  const attempt = `${iteration}-check-${number}`
  const end = await ports.shell.run({ attempt, command: check.run, timeoutMs: check.timeout }, signal)
  return {
    name: checkName(check),
    passed: end.exitCode === 0 && end.error === undefined,
    exitCode: end.exitCode,
    durationMs: end.durationMs,
    output: end.output,
    ...(end.error !== undefined && { reason: end.error }),
  }
}

async function runHook(order: Doing<'run-hook'>, progress: Progress, ports: Ports, signal: AbortSignal): Promise<Fact> {
  const { iteration, hookId } = order
  const hook = progress.perIterationHooks.find(({ id }) => id === hookId)
  const end = hook
    ? await runKnownHook(hook, iteration, { progress, ports, signal })
    : { exitCode: null, error: 'the hook is no longer configured' }
  return { type: 'hook-ended', at: ports.clock.now(), iteration, hookId, ...end }
}

type HookEnd = { readonly exitCode: number | null; readonly error?: string; readonly output?: string }
type HookContext = { readonly progress: Progress; readonly ports: Ports; readonly signal: AbortSignal }

async function runKnownHook(hook: Hook, iteration: number, { progress, ports, signal }: HookContext): Promise<HookEnd> {
  const attempt = `${iteration}-hook-${hook.id}`
  const transcript = `iter-${iteration}-${hook.id}.jsonl`
  const timeoutMs = hook.timeout ?? progress.timeouts.hook
  const variables = hookVariables(iteration, progress, ports)
  if (hook.run !== undefined) {
    return ports.shell.run({ attempt, transcript, command: hook.run, timeoutMs, env: variables }, signal)
  }
  const prompt = hook.prompt ?? `/${hook.workflow} ${variables.ITERATION_TRANSCRIPT}`
  const outcome = await ports.agent.run(
    {
      attempt,
      transcript,
      prompt: fillHookPrompt(prompt, variables),
      timeouts: { idle: timeoutMs, attempt: timeoutMs, afterResult: progress.timeouts.afterResult },
      onEvent: () => {},
    },
    signal,
  )
  if (outcome.status === 'ok') return { exitCode: 0 }
  return { exitCode: outcome.exitCode ?? null, error: outcome.reason ?? outcome.status, output: outcome.text }
}

function hookVariables(iteration: number, progress: Progress, ports: Ports) {
  const at =
    progress.live.find(({ number }) => number === iteration) ??
    progress.iterations.findLast(({ number }) => number === iteration)
  return {
    ITERATION_TRANSCRIPT: ports.agent.transcriptPath(`iteration-${iteration}.jsonl`),
    SPRINT_ID: progress.sprintId,
    ITERATION: String(iteration),
    PHASE_ID: at?.step ?? at?.mode ?? '',
  }
}

async function wait(
  { iteration, until }: Doing<'wait'>,
  { clock }: Ports,
  signal: AbortSignal,
): Promise<Fact | undefined> {
  await clock.waitUntil(until, signal)
  return signal.aborted ? undefined : { type: 'wait-ended', at: clock.now(), iteration }
}
