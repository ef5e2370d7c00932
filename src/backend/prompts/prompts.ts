import { and, asc, eq, gt, lt, max } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { lastPosition, interruptPrompt } from '../sprints/orders.ts'
import type { Requester, Fleet } from '../fleet/fleet.ts'
import { dispatchNext } from '../sprints/dispatch.ts'
import { applyFact } from '../sprints/facts.ts'
import {
  agentTransaction,
  findRunningPrompt,
  notFoundError,
  readSprintRow,
  type AgentTransaction,
} from '../fleet/transaction.ts'

export type UserPrompt = { readonly prompt: string; readonly model?: string | undefined }

/** Queues a user's prompt behind those that wait. It is sent at once if the agent is free. */
export const enqueuePrompt = (
  fleet: Fleet,
  agentId: string,
  userPrompt: UserPrompt,
  by: Requester,
): Promise<PromptRow> =>
  agentTransaction(fleet, agentId, async (t) => {
    if (t.agent.state === 'archived') throw new RalphError('NOT_RUNNING', 'the agent is archived')
    const id = fleet.newId()
    await t.tx.db.insert(agentPrompts).values({
      id,
      agentId,
      prompt: userPrompt.prompt,
      status: 'queued',
      model: userPrompt.model ?? null,
      by: by.name,
      userId: by.userId ?? null,
      position: lastPosition(agentId),
      createdAt: fleet.clock.now(),
    })
    await recordRowChanges(t, { kind: 'prompt', agentId, promptId: id })
    await dispatchNext(t)
    return readPromptRow(t, id)
  })

/** Removes a user's prompt from the queue. Prompts of the loop end with their sprint. */
export const cancelPrompt = (fleet: Fleet, agentId: string, promptId: string): Promise<PromptRow> =>
  agentTransaction(fleet, agentId, async (t) => {
    const { status, sprintId, startedAt } = await readPromptRow(t, promptId)
    if (status === 'cancelled') return readPromptRow(t, promptId)
    if (status !== 'queued' && status !== 'parked') {
      throw new RalphError('ALREADY_RUNNING', `the prompt is ${status}`, {
        hint: 'interrupt a running prompt instead',
      })
    }
    if (sprintId !== null)
      throw new RalphError('AGENT_BUSY', 'the prompt belongs to the loop', { hint: 'stop the sprint instead' })
    const cancelled = { status: 'cancelled' as const, endedAt: fleet.clock.now() }
    await t.tx.db.update(agentPrompts).set(cancelled).where(eq(agentPrompts.id, promptId))
    // It was queued for a resend: the machine may have received the first message.
    if (startedAt !== null) await interruptPrompt(t, promptId)
    await recordRowChanges(t, { kind: 'prompt', agentId, promptId })
    await dispatchNext(t)
    return readPromptRow(t, promptId)
  })

/** Moves a queued prompt in front of another one; null: to the end. */
export const movePrompt = (
  fleet: Fleet,
  agentId: string,
  promptId: string,
  before: string | null,
): Promise<PromptRow> =>
  agentTransaction(fleet, agentId, async (t) => {
    const moved = await readPromptRow(t, promptId)
    if (moved.status !== 'queued' && moved.status !== 'parked') {
      throw new RalphError('ALREADY_RUNNING', `the prompt is ${moved.status}`)
    }
    const position = before === null ? lastPosition(agentId) : await positionBefore(t, before)
    await t.tx.db.update(agentPrompts).set({ position }).where(eq(agentPrompts.id, promptId))
    await recordRowChanges(t, { kind: 'prompt', agentId, promptId })
    return readPromptRow(t, promptId)
  })

/**
 * Halfway to the previous prompt. After about fifty moves to the same place the numbers run out of digits; then the
 * positions are renumbered.
 */
async function positionBefore(t: AgentTransaction, before: string): Promise<number> {
  const { position } = await readPromptRow(t, before)
  const earlier = and(eq(agentPrompts.agentId, t.agent.id), lt(agentPrompts.position, position))
  const [{ last } = { last: null }] = await t.tx.db
    .select({ last: max(agentPrompts.position) })
    .from(agentPrompts)
    .where(earlier)
  const between = ((last ?? position - 2) + position) / 2
  if (between > (last ?? -Infinity) && between < position) return between
  await renumberPositions(t, position)
  return position + 0.5
}

/** Renumbers every prompt from that position on in whole steps, starting one higher. */
async function renumberPositions(t: AgentTransaction, from: number): Promise<void> {
  const later = and(eq(agentPrompts.agentId, t.agent.id), gt(agentPrompts.position, from - 1e-9))
  const rows = await t.tx.db.select().from(agentPrompts).where(later).orderBy(asc(agentPrompts.position))
  for (const [index, { id }] of rows.entries()) {
    await t.tx.db
      .update(agentPrompts)
      .set({ position: from + index + 1 })
      .where(eq(agentPrompts.id, id))
  }
}

/**
 * Ends the agent's running prompt. Pauses its sprint, if it is a prompt of the loop, which would otherwise start again
 * at once.
 */
export const interruptAgent = (fleet: Fleet, agentId: string): Promise<void> =>
  agentTransaction(fleet, agentId, async (t) => {
    const running = await findRunningPrompt(t)
    if (!running) return
    if (running.sprintId === null) return interruptPrompt(t, running.id)
    const sprint = await readSprintRow(t, running.sprintId)
    const fact = { type: 'stop-requested' as const, at: fleet.clock.now(), as: 'paused' as const, when: 'now' as const }
    await applyFact(t, sprint, { id: fleet.newId(), fact })
    await dispatchNext(t)
  })

async function readPromptRow(t: AgentTransaction, promptId: string): Promise<PromptRow> {
  const own = and(eq(agentPrompts.id, promptId), eq(agentPrompts.agentId, t.agent.id))
  const [prompt] = await t.tx.db.select().from(agentPrompts).where(own)
  if (!prompt) throw notFoundError('prompt')
  return prompt
}
