import type { Outcome } from '../contract/outcome.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import type { AttemptEnd, Fact } from '../loop/fact.ts'
import { budgetOf } from '../loop/limits.ts'
import { buildPrompt, buildRepairPrompt } from '../loop/prompt.ts'
import { readReport } from '../loop/read-report.ts'
import { noUsage } from '../contract/outcome.ts'
import { liveOf, type Context, type Doing } from './context.ts'
import type { AgentRunner } from './ports.ts'

/** One process of the agent for an iteration: prompt in, report out. */
export async function runAttempt({ iteration, attempt }: Doing<'run-attempt'>, context: Context): Promise<Fact> {
  const { progress, ports, signal } = context
  const live = liveOf(progress, iteration)
  const agent = ports.agents(live.agent)
  const limited = await limitedElsewhere(agent, context)
  if (limited) return { ...limited, iteration, attempt, random: ports.random() }
  const prompt = live.repair
    ? buildRepairPrompt(live.repair.reason)
    : buildPrompt(progress, { ...live, notes: await ports.notes() })
  const looks = progress.limits.noProgress !== 'off'
  const before = looks ? await ports.workspace.fingerprint() : undefined
  ports.observe({ type: 'attempt-started', iteration, attempt, agent: agent.name })
  const outcome = await agent.run(
    {
      attempt: `${iteration}-${attempt}`,
      transcript: `iteration-${iteration}.jsonl`,
      prompt,
      timeouts: progress.timeouts,
      budget: budgetOf(progress, live),
      resume: live.repair?.session,
      onEvent: (event) => ports.observe({ type: 'agent', iteration, attempt, event }),
    },
    signal,
  )
  const after = looks ? await ports.workspace.fingerprint() : undefined
  if (outcome.class === 'usage_limit' && outcome.resetsAt !== undefined)
    await ports.limits.note(agent.name, outcome.resetsAt)
  return {
    type: 'attempt-ended',
    at: ports.clock.now(),
    iteration,
    attempt,
    end: endOf(outcome, prompt, live, progress),
    usage: outcome.usage,
    costUsd: outcome.costUsd,
    costEstimated: outcome.costEstimated,
    model: outcome.model,
    changed: before === undefined ? undefined : before !== after,
    random: ports.random(),
  }
}

/** Another sprint of this account may have met the limit already: it is waited for without a start. */
async function limitedElsewhere(agent: AgentRunner, { ports }: Context) {
  const until = await ports.limits.until(agent.name)
  const at = ports.clock.now()
  if (until === undefined || until <= at) return undefined
  const reason = `${agent.name} has reached its usage limit, as another sprint has found`
  const end: AttemptEnd = { kind: 'failed', class: 'usage_limit', reason, retryable: true, resetsAt: until }
  return { type: 'attempt-ended' as const, at, end, usage: noUsage, costUsd: 0 }
}

function endOf(outcome: Outcome, prompt: string, live: LiveIteration, progress: Progress): AttemptEnd {
  if (outcome.status === 'aborted') return { kind: 'aborted' }
  if (outcome.status !== 'ok') {
    const { class: failure = 'unknown', reason = 'the agent failed', retryable, resetsAt } = outcome
    return { kind: 'failed', class: failure, reason, retryable, resetsAt }
  }
  const read = readReport(
    outcome.text,
    live.repair ? `${prompt}\n${buildPrompt(progress, live)}` : prompt,
    outcome.structured,
  )
  if (read.kind === 'report' || !outcome.resumable) return read
  return { ...read, session: outcome.sessionId }
}
