import { and, eq } from 'drizzle-orm'
import { placements } from '../database/agent.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import { machines } from '../database/machine.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { appendSprintEvents } from '../feed/sprint-events.ts'
import { upsertUsage } from '../sprints/usage.ts'
import type { AttemptEndedFact, PromptEnding } from './reports.ts'
import { notFoundError, type AgentTransaction } from '../fleet/transaction.ts'

/** A machine may only report about its own agents, and about those it had before it was lost. */
export async function assertMachineOwnedAgent(t: AgentTransaction, machineId: string): Promise<void> {
  const had = and(eq(placements.agentId, t.agent.id), eq(placements.machineId, machineId))
  const [placement] = await t.tx.db.select().from(placements).where(had)
  if (!placement) throw notFoundError('agent')
}

export type LateReport = {
  readonly machineId: string
  readonly prompt: PromptRow
  readonly ending: PromptEnding
  readonly fact: AttemptEndedFact | undefined
}

/**
 * Records how a prompt ended on a lost machine and what it cost. Nothing else follows, because another machine has
 * repeated it.
 */
export async function recordLateEnd(t: AgentTransaction, late: LateReport): Promise<void> {
  const { prompt, ending, fact, machineId } = late
  if (prompt.endedAt === null || prompt.lateAt !== null) return
  const { id: promptId, agentId, sprintId } = prompt
  const lateAt = t.fleet.clock.now()
  const [machine] = await t.tx.db.select().from(machines).where(eq(machines.id, machineId))
  const text = `${machine?.name ?? 'the lost machine'} is back: its prompt ended as ${ending.status}, which is ignored`
  const costUsd = ending.costUsd ?? prompt.costUsd
  const fields = { lateAt, costUsd, answer: ending.answer ?? null, error: [prompt.error, text].join('; ') }
  await t.tx.db.update(agentPrompts).set(fields).where(eq(agentPrompts.id, promptId))
  if (fact) await t.tx.db.execute(upsertUsage(t, fact))
  await recordRowChanges(t, { kind: 'prompt', agentId, promptId })
  const event = { type: 'note' as const, level: 'info' as const, text }
  if (sprintId !== null) await appendSprintEvents(t, { sprintId, newEvents: [{ at: lateAt, promptId, event }] })
}
