import { and, eq } from 'drizzle-orm'
import { placements, type AgentRow } from '../database/agent.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import type { Tx } from '../database/database.ts'
import { machines } from '../database/machine.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { appendSprintEvents } from '../feed/sprint-events.ts'
import { upsertUsage } from '../sprints/usage.ts'
import type { Fleet } from '../fleet/ports.ts'
import { notFoundError } from '../database/locked-rows.ts'
import type { AttemptEndedFact, PromptEnding } from './reports.ts'

/** A machine may only report about its own agents, and about those it had before it was lost. */
export async function assertMachineOwnedAgent(tx: Tx, agentId: string, machineId: string): Promise<void> {
  const had = and(eq(placements.agentId, agentId), eq(placements.machineId, machineId))
  const [placement] = await tx.db.select().from(placements).where(had)
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
export async function recordLateEnd(fleet: Fleet, tx: Tx, agent: AgentRow, late: LateReport): Promise<void> {
  const { prompt, ending, fact, machineId } = late
  if (prompt.endedAt === null || prompt.lateAt !== null) return
  const { id: promptId, agentId, sprintId } = prompt
  const lateAt = fleet.clock.now()
  const [machine] = await tx.db.select().from(machines).where(eq(machines.id, machineId))
  const text = `${machine?.name ?? 'the lost machine'} is back: its prompt ended as ${ending.status}, which is ignored`
  const costUsd = ending.costUsd ?? prompt.costUsd
  const fields = { lateAt, costUsd, answer: ending.answer ?? null, error: [prompt.error, text].join('; ') }
  await tx.db.update(agentPrompts).set(fields).where(eq(agentPrompts.id, promptId))
  if (fact) await tx.db.execute(upsertUsage(fleet, agent, fact))
  await recordRowChanges(fleet, tx, { kind: 'prompt', agentId, promptId })
  const event = { type: 'note' as const, level: 'info' as const, text }
  if (sprintId !== null)
    await appendSprintEvents(fleet, tx, agentId, { sprintId, newEvents: [{ at: lateAt, promptId, event }] })
}
