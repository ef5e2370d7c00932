import { and, asc, eq, gt, lt, max } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import type { Tx } from '../database/database.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { lastPosition, interruptPrompt } from '../sprints/orders.ts'
import type { Requester, Fleet } from '../fleet/ports.ts'
import { dispatchNext } from '../sprints/dispatch.ts'
import { lockAgent, notFoundError, findRunningPrompt, readSprintRow } from '../database/locked-rows.ts'
import { applyFact } from '../sprints/facts.ts'

export type UserPrompt = { readonly prompt: string; readonly model?: string | undefined }

/** Queues a user's prompt behind those that wait. It is sent at once if the agent is free. */
export const enqueuePrompt = (
  fleet: Fleet,
  agentId: string,
  userPrompt: UserPrompt,
  by: Requester,
): Promise<PromptRow> =>
  fleet.database.transaction(async (tx) => {
    const agent = await lockAgent(tx, agentId)
    if (agent.state === 'archived') throw new RalphError('NOT_RUNNING', 'the agent is archived')
    const id = fleet.newId()
    await tx.db.insert(agentPrompts).values({
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
    await recordRowChanges(fleet, tx, { kind: 'prompt', agentId, promptId: id })
    await dispatchNext(fleet, tx, agent)
    return readPromptRow(tx, agentId, id)
  })

/** Removes a user's prompt from the queue. Prompts of the loop end with their sprint. */
export const cancelPrompt = (fleet: Fleet, agentId: string, promptId: string): Promise<PromptRow> =>
  fleet.database.transaction(async (tx) => {
    const agent = await lockAgent(tx, agentId)
    const { status, sprintId, startedAt } = await readPromptRow(tx, agentId, promptId)
    if (status === 'cancelled') return readPromptRow(tx, agentId, promptId)
    if (status !== 'queued' && status !== 'parked') {
      throw new RalphError('ALREADY_RUNNING', `the prompt is ${status}`, {
        hint: 'interrupt a running prompt instead',
      })
    }
    if (sprintId !== null)
      throw new RalphError('AGENT_BUSY', 'the prompt belongs to the loop', { hint: 'stop the sprint instead' })
    const cancelled = { status: 'cancelled' as const, endedAt: fleet.clock.now() }
    await tx.db.update(agentPrompts).set(cancelled).where(eq(agentPrompts.id, promptId))
    // It was queued for a resend: the machine may have received the first message.
    if (startedAt !== null) await interruptPrompt(fleet, tx, agent, promptId)
    await recordRowChanges(fleet, tx, { kind: 'prompt', agentId, promptId })
    await dispatchNext(fleet, tx, agent)
    return readPromptRow(tx, agentId, promptId)
  })

/** Moves a queued prompt in front of another one; null: to the end. */
export const movePrompt = (
  fleet: Fleet,
  agentId: string,
  promptId: string,
  before: string | null,
): Promise<PromptRow> =>
  fleet.database.transaction(async (tx) => {
    await lockAgent(tx, agentId)
    const moved = await readPromptRow(tx, agentId, promptId)
    if (moved.status !== 'queued' && moved.status !== 'parked') {
      throw new RalphError('ALREADY_RUNNING', `the prompt is ${moved.status}`)
    }
    const position = before === null ? lastPosition(agentId) : await positionBefore(tx, agentId, before)
    await tx.db.update(agentPrompts).set({ position }).where(eq(agentPrompts.id, promptId))
    await recordRowChanges(fleet, tx, { kind: 'prompt', agentId, promptId })
    return readPromptRow(tx, agentId, promptId)
  })

/**
 * Halfway to the previous prompt. After about fifty moves to the same place the numbers run out of digits; then the
 * positions are renumbered.
 */
async function positionBefore(tx: Tx, agentId: string, before: string): Promise<number> {
  const { position } = await readPromptRow(tx, agentId, before)
  const earlier = and(eq(agentPrompts.agentId, agentId), lt(agentPrompts.position, position))
  const [{ last } = { last: null }] = await tx.db
    .select({ last: max(agentPrompts.position) })
    .from(agentPrompts)
    .where(earlier)
  const between = ((last ?? position - 2) + position) / 2
  if (between > (last ?? -Infinity) && between < position) return between
  await renumberPositions(tx, agentId, position)
  return position + 0.5
}

/** Renumbers every prompt from that position on in whole steps, starting one higher. */
async function renumberPositions(tx: Tx, agentId: string, from: number): Promise<void> {
  const later = and(eq(agentPrompts.agentId, agentId), gt(agentPrompts.position, from - 1e-9))
  const rows = await tx.db.select().from(agentPrompts).where(later).orderBy(asc(agentPrompts.position))
  for (const [index, { id }] of rows.entries()) {
    await tx.db
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
  fleet.database.transaction(async (tx) => {
    const agent = await lockAgent(tx, agentId)
    const running = await findRunningPrompt(tx, agentId)
    if (!running) return
    if (running.sprintId === null) return interruptPrompt(fleet, tx, agent, running.id)
    const sprint = await readSprintRow(tx, running.sprintId)
    const fact = { type: 'stop-requested' as const, at: fleet.clock.now(), as: 'paused' as const, when: 'now' as const }
    const held = await applyFact(fleet, tx, { agent, sprint }, { id: fleet.newId(), fact })
    await dispatchNext(fleet, tx, held.agent)
  })

async function readPromptRow(tx: Tx, agentId: string, promptId: string): Promise<PromptRow> {
  const own = and(eq(agentPrompts.id, promptId), eq(agentPrompts.agentId, agentId))
  const [prompt] = await tx.db.select().from(agentPrompts).where(own)
  if (!prompt) throw notFoundError('prompt')
  return prompt
}
