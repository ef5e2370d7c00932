import { RalphError, errorMessage } from '../contract/errors.ts'
import { noUsage, type Outcome } from '../contract/outcome.ts'
import type { AttemptEnd, Fact } from '../loop/core/fact.ts'
import { getRemainingBudget } from '../loop/core/limits.ts'
import type { AttemptPrompt } from '../loop/core/way.ts'
import { fromProgress } from '../loop/progress-codec.ts'
import { buildAttemptPrompt } from '../loop/prompts.ts'
import { chooseModel, countsIdleIterations, usesLock } from '../loop/way-queries.ts'
import { requireLiveIteration, type OrderContext, type OrderByType } from './context.ts'
import { createFailedStart } from './outcomes.ts'
import type { AgentRequest, AgentRunner } from './ports.ts'
import { rethrowDiskFull } from './disk-space.ts'

/** Runs one process of the agent for an iteration: prompt in, report out. */
export async function runAttempt(
  { iteration, attempt }: OrderByType<'run-attempt'>,
  context: OrderContext,
): Promise<Fact> {
  const { progress, ports, signal } = context
  const live = requireLiveIteration(progress, iteration)
  const agent = ports.agents(live.agent, chooseModel(progress, live))
  const limited = await checkAccountLimit(agent, context)
  if (limited) return { ...limited, iteration, attempt, random: ports.random() }
  const unlocked = await restoreLock(`${progress.sprintId}/${iteration}-${attempt}`, context)
  if (unlocked) return { ...unlocked, iteration, attempt, random: ports.random() }
  const attemptPrompt = buildAttemptPrompt(progress, live, {
    notes: await ports.notes(),
    shared: await ports.sharedContext?.(),
    notesFolder: ports.lock?.folder,
    progressFile: agent.transcriptPath('../PROGRESS.yaml'),
  })
  const before = await fingerprintWorkTree(context)
  const { prompt } = attemptPrompt
  ports.observe({ type: 'attempt-started', iteration, attempt, agent: agent.name }, { prompt })
  const request: AgentRequest = {
    attempt: `${iteration}-${attempt}`,
    transcript: `iteration-${iteration}.jsonl`,
    prompt,
    timeouts: progress.timeouts,
    budget: getRemainingBudget(fromProgress(progress), live),
    resume: attemptPrompt.session,
    used: attemptPrompt.used,
    form: attemptPrompt.form,
    answer: progress.answer?.answer,
    onEvent: (event) => ports.observe({ type: 'agent', iteration, attempt, event }),
    drained: ports.drained,
  }
  const outcome = await agent.run(request, signal).catch(rethrowDiskFull(createFailedStart))
  const after = await fingerprintWorkTree(context)
  await recordUsageLimit(agent, outcome, context)
  return {
    type: 'attempt-ended',
    at: ports.clock.now(),
    iteration,
    attempt,
    end: await toAttemptEnd(outcome, attemptPrompt, context),
    usage: outcome.usage,
    costUsd: outcome.costUsd,
    costEstimated: outcome.costEstimated,
    model: outcome.model,
    ...(outcome.walls && { walls: outcome.walls }),
    changed: before === undefined || after === undefined ? undefined : before !== after,
    random: ports.random(),
  }
}

/** Hash of the work tree; undefined if no limit needs it. A broken repository does not stop the sprint. */
async function fingerprintWorkTree({ progress, ports }: OrderContext): Promise<string | undefined> {
  if (!countsIdleIterations(progress)) return undefined
  return ports.workspace.fingerprint().catch((error: unknown) => {
    const text = `cannot detect whether files changed: ${errorMessage(error)}`
    ports.observe({ type: 'note', level: 'warning', text })
    return undefined
  })
}

/** Saves other sprints a start. Best effort: they would hit the limit themselves. */
async function recordUsageLimit(agent: AgentRunner, { class: failure, resetsAt }: Outcome, { ports }: OrderContext) {
  if (failure === 'usage_limit' && resetsAt !== undefined)
    await ports.limits.record(agent.name, resetsAt).catch(() => {})
}

/** Another sprint on this account may already have hit the limit; then wait without a start. */
async function checkAccountLimit(agent: AgentRunner, { ports }: OrderContext) {
  const until = await ports.limits.limitedUntil(agent.name)
  const at = ports.clock.now()
  if (until === undefined || until <= at) return undefined
  const reason = `${agent.name} has reached its usage limit, as reported by another sprint`
  const why = { class: 'usage_limit', reason, retryable: true, resetsAt: until, notStarted: true } as const
  const end: AttemptEnd = { kind: 'failed', ...why }
  return { type: 'attempt-ended' as const, at, end, usage: noUsage, costUsd: 0 }
}

async function toAttemptEnd(
  outcome: Outcome,
  attemptPrompt: AttemptPrompt,
  context: OrderContext,
): Promise<AttemptEnd> {
  const session = outcome.resumable ? { session: outcome.sessionId } : {}
  if (outcome.status === 'aborted') return { kind: 'aborted', ...session }
  if (outcome.status !== 'ok') {
    const { class: failure = 'unknown', reason = 'the agent failed', retryable, resetsAt } = outcome
    // The agent was held to a schema and could not produce a report; repeating the work would not help.
    if (attemptPrompt.form && failure === 'protocol') return { kind: 'malformed', reason }
    const { question } = outcome
    return {
      kind: 'failed',
      class: failure,
      reason,
      retryable,
      resetsAt,
      question,
      exitCode: getChosenExitCode(outcome),
    }
  }
  if (usesLock(context.progress)) return readLockEnd(outcome, attemptPrompt, context)
  const read = attemptPrompt.read(outcome)
  return read.kind === 'malformed' ? { ...read, ...session } : read
}

/** Runs before the prompt: without a lock, the agent would have nothing to delete. */
async function restoreLock(attempt: string, { progress, ports }: OrderContext) {
  if (!usesLock(progress)) return undefined
  const failed = await requireNotesLock(ports)
    .then((lock) => lock.restore(attempt))
    .then(() => undefined, notesUnreadable)
  return failed && { type: 'attempt-ended' as const, at: ports.clock.now(), end: failed, usage: noUsage, costUsd: 0 }
}

/** If the lock cannot be read, it is neither present nor gone, so the attempt failed. */
const readLockEnd = ({ text }: Outcome, { read }: AttemptPrompt, { ports }: OrderContext): Promise<AttemptEnd> =>
  requireNotesLock(ports)
    .then((lock) => lock.read())
    .then((lock) => read({ text, lock }), notesUnreadable)

const notesUnreadable = (error: unknown): AttemptEnd => ({
  kind: 'failed',
  class: 'unknown',
  reason: `the notes cannot be read: ${errorMessage(error)}`,
  retryable: true,
})

async function requireNotesLock({ lock }: OrderContext['ports']) {
  if (!lock) throw new RalphError('NOT_SUPPORTED', 'this sprint has no notes folder')
  return lock
}

/** Shells report a fatal signal as an exit code above 128. */
function getChosenExitCode({ exitCode }: Outcome): number | undefined {
  return exitCode === null || exitCode === undefined || exitCode > 128 ? undefined : exitCode
}
