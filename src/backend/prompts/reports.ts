import { and, eq, inArray, sql } from 'drizzle-orm'
import type { ReportBody } from '../../contract/fleet/machine-messages.ts'
import type { MachineFact } from '../../contract/fleet/machine-work.ts'
import { noUsage, type Outcome } from '../../contract/outcome.ts'
import type { AttemptEnd, Fact } from '../../loop/core/fact.ts'
import { conversations } from '../database/agent.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import { timestampMs } from '../database/columns.ts'
import { sprintOrders, sprints, type SprintRow } from '../database/sprint.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { enqueueOrders } from '../sprints/orders.ts'
import { meters } from '../meters/meters.ts'
import { recordAccountLimit, upsertUsage } from '../sprints/usage.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { dispatchNext } from '../sprints/dispatch.ts'
import { resumeIfRequested } from '../sprints/sprints.ts'
import { applyFact } from '../sprints/facts.ts'
import { recordLateEnd, assertMachineOwnedAgent } from './late-reports.ts'
import {
  agentTransaction,
  readSprintRow,
  updateAgent,
  type AgentTransaction,
  type Transaction,
} from '../fleet/transaction.ts'

/**
 * A prompt has ended. In one transaction, this finishes it, lets the loop decide, and dispatches the agent's next
 * prompt; a repeated report changes nothing.
 */
export const handlePromptEnded = (fleet: Fleet, machineId: string, report: ReportBody<'prompt-ended'>): Promise<void> =>
  agentTransaction(fleet, report.agentId, async (t) => {
    const { promptId, agentId, end } = report
    const isLate = t.agent.machineId !== machineId
    if (isLate) await assertMachineOwnedAgent(t, machineId)
    const [found] = await t.tx.db
      .select({ prompt: agentPrompts, sprint: sprints })
      .from(agentPrompts)
      .leftJoin(sprints, eq(sprints.id, agentPrompts.sprintId))
      .where(and(eq(agentPrompts.id, promptId), eq(agentPrompts.agentId, agentId)))
    if (!found || (found.prompt.endedAt !== null && !isLate)) return
    const { prompt, sprint } = found
    const fact = toAttemptFact(t.fleet, prompt, end)
    const ending = { ...toPromptEnding(end, fact), ...(report.prompt !== undefined && { prompt: report.prompt }) }
    if (isLate) return recordLateEnd(t, { machineId, prompt, ending, fact })
    await recordRowChanges(t, { kind: 'prompt', agentId, promptId })
    const dispatch = async (known?: SprintRow) => {
      await dispatchNext(t, known)
      if (t.agent.state !== 'running') t.tx.afterCommit(() => t.fleet.database.signals.emit(slotTopic, machineId))
    }
    if (!fact || !sprint) {
      await endUserPrompt(t, { prompt, ending })
      return dispatch()
    }
    await endAttempt(t, { prompt, ending, fact })
    await recordAccountLimit(t, fact.end)
    if (end.kind === 'fact') await savePushedCommit(t, sprint, report.pushed)
    const decided = await applyFact(t, sprint, { id: `prompt:${promptId}`, fact })
    await rescheduleAbortedAttempt(t, decided, fact)
    await dispatch(await resumeIfRequested(t, decided))
  })

const abortRetryMs = 2000

/**
 * The machine aborted the attempt on its own, because it shut down or its lease ended. The loop would wait for a user,
 * so schedule a retry.
 */
export async function rescheduleAbortedAttempt(
  t: AgentTransaction,
  sprint: SprintRow,
  { end, iteration }: AttemptEndedFact,
): Promise<void> {
  const { status, progress } = sprint
  const waits = progress.live.some(({ number, stage }) => number === iteration && stage === 'waiting')
  if (end.kind !== 'aborted' || status !== 'in-progress' || !waits) return
  const wait = { type: 'wait' as const, iteration, until: t.fleet.clock.now() + abortRetryMs, reason: 'called off' }
  await enqueueOrders(t, sprint, { orders: [wait], because: 'attempt-ended' })
}

/** Stores the commit that another machine could continue from; null if the last work was not pushed. */
async function savePushedCommit(
  t: Transaction,
  { id, pushed: before }: SprintRow,
  pushed: string | null = null,
): Promise<void> {
  if (pushed !== before) await t.tx.db.update(sprints).set({ pushed }).where(eq(sprints.id, id))
}

/** Signals that the machine has a free slot that its other agents may wait for. */
export const slotTopic = 'slot'

type ReportedEnd = ReportBody<'prompt-ended'>['end']

/** The fact for the loop; undefined for a user's prompt. Uses our time, because clocks of machines are unreliable. */
export function toAttemptFact(
  fleet: Fleet,
  { sprintId, iteration, attempt }: PromptRow,
  end: ReportedEnd,
): AttemptEndedFact | undefined {
  if (sprintId === null || iteration === null) return undefined
  const at = fleet.clock.now()
  if (end.kind === 'fact') return end.fact.type === 'attempt-ended' ? { ...end.fact, at } : undefined
  const nothing = { usage: noUsage, costUsd: 0, random: 0 }
  return { type: 'attempt-ended', at, iteration, attempt, end: toLoopAttemptEnd(end), ...nothing }
}

export type AttemptEndedFact = Extract<Fact, { type: 'attempt-ended' }>

function toLoopAttemptEnd(end: Exclude<ReportedEnd, { kind: 'fact' }>): AttemptEnd {
  if (end.kind === 'refused') return { kind: 'failed', class: 'not_found', reason: end.reason, retryable: false }
  return { kind: 'aborted' }
}

export type PromptEnding = Partial<PromptRow> & { readonly status: PromptRow['status'] }

function toPromptEnding(end: ReportedEnd, fact: AttemptEndedFact | undefined): PromptEnding {
  if (end.kind === 'cancelled') return { status: 'cancelled' }
  if (end.kind === 'refused') return { status: 'failed', error: end.reason }
  if (end.kind === 'outcome') return toOutcomeEnding(end.outcome)
  if (!fact) return { status: 'failed', error: 'the machine reported an unexpected fact' }
  const costUsd = fact.costUsd ?? null
  switch (fact.end.kind) {
    case 'report':
    case 'phase-report':
      return { status: 'finished', answer: fact.end.report.summary, costUsd }
    case 'aborted':
      return { status: 'cancelled', costUsd }
    case 'malformed':
    case 'failed':
      return { status: 'failed', error: fact.end.reason, costUsd }
  }
}

function toOutcomeEnding({ status, reason = 'the agent failed', text, ...outcome }: Outcome): PromptEnding {
  const costUsd = outcome.costUsd ?? null
  if (status === 'ok') return { status: 'finished', answer: text, costUsd }
  return { status: status === 'aborted' ? 'cancelled' : 'failed', error: reason, answer: text, costUsd }
}

type PromptEndUpdate = { readonly prompt: PromptRow; readonly ending: PromptEnding }

/**
 * Ends the prompt and its order, archives its conversation (each prompt of the loop has its own, with a fresh context)
 * and adds its usage, in one statement.
 */
export async function endAttempt(
  t: AgentTransaction,
  { prompt, ending, fact }: PromptEndUpdate & { readonly fact: AttemptEndedFact },
): Promise<void> {
  t.tx.afterCommit(() => countAttempt(prompt, fact))
  const at = timestampMs.literal(t.fleet.clock.now())
  const { status, error = null, answer = null, costUsd = null, prompt: sent = prompt.prompt } = ending
  await t.tx.db.execute(sql`
    with ended as (
      update agent_prompt set status = ${status}, prompt = ${sent}, error = ${error}, answer = ${answer}, cost_usd = ${costUsd},
        ended_at = ${at}, lease_until = null
      where id = ${prompt.id}
    ), done as (
      update sprint_order set status = 'done', ended_at = ${at} where id = ${prompt.orderId} and status in ('queued', 'open')
    ), talk as (
      insert into conversation (id, agent_id, sprint_id, iteration, prompt_id, messages, started_at, ended_at)
      values (${t.fleet.newId()}, ${t.agent.id}, ${prompt.sprintId}, ${prompt.iteration}, ${prompt.id}, 2,
        ${timestampMs.literal(prompt.startedAt ?? t.fleet.clock.now())}, ${at})
    )
    ${upsertUsage(t, fact)}`)
}

function countAttempt({ startedAt }: PromptRow, { at, end, costUsd, usage, model = '' }: AttemptEndedFact): void {
  meters.attempts.add({ end: end.kind === 'failed' ? end.class : end.kind })
  if (costUsd) meters.cost.add({ model }, costUsd)
  for (const [kind, count] of Object.entries(usage)) {
    if (count > 0) meters.tokens.add({ kind: kind.replace('Tokens', ''), model }, count)
  }
  if (startedAt !== null) meters.promptSeconds.observe({}, Math.max(0, at - startedAt) / 1000)
}

/** Also ends an order that is queued for a resend: the machine received it after all. */
export const endOrder = (t: Transaction, id: string) =>
  t.tx.db
    .update(sprintOrders)
    .set({ status: 'done', endedAt: t.fleet.clock.now() })
    .where(and(eq(sprintOrders.id, id), inArray(sprintOrders.status, ['queued', 'open'])))

/** A user's prompt: the next one resumes the same conversation until a user resets it. */
export async function endUserPrompt(t: AgentTransaction, { prompt, ending }: PromptEndUpdate): Promise<void> {
  const at = t.fleet.clock.now()
  const fields = { ...ending, endedAt: at, leaseUntil: null }
  await t.tx.db.update(agentPrompts).set(fields).where(eq(agentPrompts.id, prompt.id))
  const inConversation = t.agent.inConversation || ending.status === 'finished'
  if (inConversation === t.agent.inConversation) return
  const talk = { agentId: t.agent.id, promptId: prompt.id, messages: 2, startedAt: prompt.startedAt ?? at }
  await t.tx.db.insert(conversations).values({ id: t.fleet.newId(), ...talk })
  await updateAgent(t, { inConversation })
}

/** The machine has executed an order: checks, a hook, a checkpoint. Without a fact, the order was cancelled. */
export const handleOrderEnded = (fleet: Fleet, machineId: string, report: ReportBody<'order-ended'>): Promise<void> =>
  agentTransaction(fleet, report.agentId, async (t) => {
    const { orderId, agentId, fact, reason } = report
    // The machine that took over the agent executes the order again.
    if (t.agent.machineId !== machineId) return assertMachineOwnedAgent(t, machineId)
    const order = await findOpenOrder(t, orderId, agentId)
    if (!order) return
    await endOrder(t, orderId)
    const sprint = await readSprintRow(t, order.sprintId)
    if (fact) await savePushedCommit(t, sprint, report.pushed)
    const known = fact ?? (sprint.status === 'in-progress' ? createFailedFact(order.order, reason) : undefined)
    if (!known) return dispatchNext(t)
    const timedFact = { ...known, at: t.fleet.clock.now() }
    if ('spent' in known && known.spent) await t.tx.db.execute(upsertUsage(t, known.spent))
    await dispatchNext(t, await applyFact(t, sprint, { id: `order:${orderId}`, fact: timedFact }))
  })

async function findOpenOrder(t: Transaction, orderId: string, agentId: string) {
  const own = and(eq(sprintOrders.id, orderId), eq(sprintOrders.agentId, agentId))
  const [order] = await t.tx.db.select().from(sprintOrders).where(own)
  return order?.endedAt === null ? order : undefined
}

/** Shows the process of a hook that runs. A hook with several calls has one after the other. */
export const handleHookSpawned = (fleet: Fleet, machineId: string, report: ReportBody<'hook-spawned'>): Promise<void> =>
  agentTransaction(fleet, report.agentId, async (t) => {
    const { orderId, agentId, pid } = report
    if (t.agent.machineId !== machineId) return assertMachineOwnedAgent(t, machineId)
    const { order, sprintId } = (await findOpenOrder(t, orderId, agentId)) ?? {}
    if (order?.type !== 'run-hook' || sprintId === undefined) return
    const { iteration, hookId } = order
    const fact: Fact = { type: 'hook-spawned', at: t.fleet.clock.now(), iteration, hookId, pid }
    await applyFact(t, await readSprintRow(t, sprintId), { id: `hook:${orderId}:${pid}`, fact })
  })

/** The fact for an order that failed to run, although it was not cancelled. */
export function createFailedFact(
  order: typeof sprintOrders.$inferSelect.order,
  reason = 'it could not be executed',
): MachineFact | undefined {
  const at = 0
  switch (order.type) {
    case 'run-checks': {
      const red = { passed: false, exitCode: null, durationMs: 0, output: '', reason }
      return {
        type: 'checks-ended',
        at,
        iteration: order.iteration,
        results: order.names.map((name) => ({ name, ...red })),
      }
    }
    case 'run-gate':
      return { type: 'gate-ended', at, iteration: order.iteration, exitCode: null, output: '', error: reason }
    case 'run-review':
      return { type: 'review-ended', at, iteration: order.iteration, passed: false, summary: reason, unable: true }
    case 'make-checkpoint':
      return { type: 'checkpoint-made', at, iteration: order.iteration }
    case 'run-hook':
      return { type: 'hook-ended', at, iteration: order.iteration, hookId: order.hookId, exitCode: null, error: reason }
    case 'clean-worktree':
      return { type: 'worktree-cleaned', at, kept: reason }
    case 'run-attempt':
    case 'wait':
    case 'notify':
    case 'abort':
    case 'tell':
      return undefined
  }
}
