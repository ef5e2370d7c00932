import { RalphError } from '../contract/errors.ts'
import { noUsage, type Outcome } from '../contract/outcome.ts'
import type { LiveIteration } from '../contract/progress.ts'
import type { AttemptEnd, Fact } from '../loop/fact.ts'
import { budgetOf } from '../loop/limits.ts'
import { type Asking, askingOf, promptFor, reportIn } from '../loop/protocol.ts'
import { readLock } from '../loop/read-lock.ts'
import { modelFor } from '../loop/standard/choice.ts'
import { liveOf, type Context, type Doing } from './context.ts'
import { messageOf, notStarted } from './outcomes.ts'
import type { AgentRequest, AgentRunner } from './ports.ts'
import { unlessDiskFull } from './disk-space.ts'

/** Runs one process of the agent for an iteration: prompt in, report out. */
export async function runAttempt({ iteration, attempt }: Doing<'run-attempt'>, context: Context): Promise<Fact> {
  const { progress, ports, signal } = context
  const live = liveOf(progress, iteration)
  const agent = ports.agents(live.agent, modelFor(progress, live))
  const limited = await limitedElsewhere(agent, context)
  if (limited) return { ...limited, iteration, attempt, random: ports.random() }
  const unlocked = await restoreLock(`${progress.sprintId}/${iteration}-${attempt}`, context)
  if (unlocked) return { ...unlocked, iteration, attempt, random: ports.random() }
  const asking = askingOf(progress, live, await ports.notes(), ports.lock?.folder)
  const before = await fingerprint(context)
  ports.observe({ type: 'attempt-started', iteration, attempt, agent: agent.name })
  const request: AgentRequest = {
    attempt: `${iteration}-${attempt}`,
    transcript: `iteration-${iteration}.jsonl`,
    prompt: asking.prompt,
    timeouts: progress.timeouts,
    budget: budgetOf(progress, live),
    resume: asking.session,
    used: asking.used,
    form: asking.form,
    answer: progress.answer?.answer,
    onEvent: (event) => ports.observe({ type: 'agent', iteration, attempt, event }),
  }
  const outcome = await agent.run(request, signal).catch(unlessDiskFull(notStarted))
  const after = await fingerprint(context)
  await noteLimit(agent, outcome, context)
  return {
    type: 'attempt-ended',
    at: ports.clock.now(),
    iteration,
    attempt,
    end: await endOf(outcome, asking, live, context),
    usage: outcome.usage,
    costUsd: outcome.costUsd,
    costEstimated: outcome.costEstimated,
    model: outcome.model,
    changed: before === undefined || after === undefined ? undefined : before !== after,
    random: ports.random(),
  }
}

/** Hash of the work tree; undefined if no limit needs it. A broken repository does not stop the sprint. */
async function fingerprint({ progress, ports }: Context): Promise<string | undefined> {
  if (progress.limits.noProgress === 'off' || progress.mode === 'standard') return undefined
  return ports.workspace.fingerprint().catch((error: unknown) => {
    const text = `cannot detect whether files changed: ${messageOf(error)}`
    ports.observe({ type: 'note', level: 'warning', text })
    return undefined
  })
}

/** Saves other sprints a start. Best effort: they would hit the limit themselves. */
async function noteLimit(agent: AgentRunner, { class: failure, resetsAt }: Outcome, { ports }: Context) {
  if (failure === 'usage_limit' && resetsAt !== undefined) await ports.limits.note(agent.name, resetsAt).catch(() => {})
}

/** Another sprint on this account may already have hit the limit; then wait without a start. */
async function limitedElsewhere(agent: AgentRunner, { ports }: Context) {
  const until = await ports.limits.until(agent.name)
  const at = ports.clock.now()
  if (until === undefined || until <= at) return undefined
  const reason = `${agent.name} has reached its usage limit, as reported by another sprint`
  const why = { class: 'usage_limit', reason, retryable: true, resetsAt: until, notStarted: true } as const
  const end: AttemptEnd = { kind: 'failed', ...why }
  return { type: 'attempt-ended' as const, at, end, usage: noUsage, costUsd: 0 }
}

async function endOf(outcome: Outcome, asking: Asking, live: LiveIteration, context: Context): Promise<AttemptEnd> {
  const session = outcome.resumable ? { session: outcome.sessionId } : {}
  if (outcome.status === 'aborted') return { kind: 'aborted', ...session }
  if (outcome.status !== 'ok') {
    const { class: failure = 'unknown', reason = 'the agent failed', retryable, resetsAt } = outcome
    // The agent was held to a schema and could not produce a report; repeating the work would not help.
    if (asking.form && failure === 'protocol') return { kind: 'malformed', reason }
    const { question } = outcome
    return { kind: 'failed', class: failure, reason, retryable, resetsAt, question, exitCode: ownExitCode(outcome) }
  }
  const { progress } = context
  if (progress.protocol === 'notes') return endByLock(outcome, context)
  const { prompt, form } = asking
  const asked = asking.session === undefined ? prompt : `${prompt}\n${promptFor(progress, live)}`
  const read = reportIn(progress, { ...outcome, held: form !== undefined }, asked)
  return read.kind === 'malformed' ? { ...read, ...session } : read
}

/** Runs before the prompt: without a lock, the agent would have nothing to delete. */
async function restoreLock(attempt: string, { progress, ports }: Context) {
  if (progress.protocol !== 'notes') return undefined
  const failed = await lockOf(ports)
    .then((lock) => lock.restore(attempt))
    .then(() => undefined, unreadable)
  return failed && { type: 'attempt-ended' as const, at: ports.clock.now(), end: failed, usage: noUsage, costUsd: 0 }
}

/** If the lock cannot be read, it is neither present nor gone, so the attempt failed. */
const endByLock = (outcome: Outcome, { ports }: Context): Promise<AttemptEnd> =>
  lockOf(ports)
    .then((lock) => lock.read())
    .then((lock) => readLock(lock, outcome.text), unreadable)

const unreadable = (error: unknown): AttemptEnd => ({
  kind: 'failed',
  class: 'unknown',
  reason: `the notes cannot be read: ${messageOf(error)}`,
  retryable: true,
})

async function lockOf({ lock }: Context['ports']) {
  if (!lock) throw new RalphError('NOT_SUPPORTED', 'this sprint has no notes folder')
  return lock
}

/** Shells report a fatal signal as an exit code above 128. */
function ownExitCode({ exitCode }: Outcome): number | undefined {
  return exitCode === null || exitCode === undefined || exitCode > 128 ? undefined : exitCode
}
