import { and, eq } from 'drizzle-orm'
import { placements, type AgentRow } from '../database/agent.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import type { Tx } from '../database/database.ts'
import { machines } from '../database/machine.ts'
import { announce } from './announce.ts'
import { appendToSprint } from './append-to-sprint.ts'
import { usageRow } from './money.ts'
import type { Fleet } from './ports.ts'
import { notFound } from './rows.ts'
import type { AttemptEndedFact, PromptEnding } from './take-report.ts'

/** A machine may only report about its own agents, and about those it had before it was lost. */
export async function refuseStrangers(tx: Tx, agentId: string, machineId: string): Promise<void> {
  const had = and(eq(placements.agentId, agentId), eq(placements.machineId, machineId))
  const [placement] = await tx.db.select().from(placements).where(had)
  if (!placement) throw notFound('agent')
}

export type Late = {
  readonly machineId: string
  readonly prompt: PromptRow
  readonly ending: PromptEnding
  readonly fact: AttemptEndedFact | undefined
}

/**
 * Records how a prompt ended on a lost machine and what it cost. Nothing else follows, because another machine has
 * repeated it.
 */
export async function noteLate(fleet: Fleet, tx: Tx, agent: AgentRow, late: Late): Promise<void> {
  const { prompt, ending, fact, machineId } = late
  if (prompt.endedAt === null || prompt.lateAt !== null) return
  const { id: promptId, agentId, sprintId } = prompt
  const lateAt = fleet.clock.now()
  const [machine] = await tx.db.select().from(machines).where(eq(machines.id, machineId))
  const text = `${machine?.name ?? 'the lost machine'} is back: its prompt ended as ${ending.status}, which is ignored`
  const costUsd = ending.costUsd ?? prompt.costUsd
  const fields = { lateAt, costUsd, answer: ending.answer ?? null, error: [prompt.error, text].join('; ') }
  await tx.db.update(agentPrompts).set(fields).where(eq(agentPrompts.id, promptId))
  if (fact) await tx.db.execute(usageRow(fleet, agent, fact))
  await announce(fleet, tx, { kind: 'prompt', agentId, promptId })
  const event = { type: 'note' as const, level: 'info' as const, text }
  if (sprintId !== null) await appendToSprint(fleet, tx, agentId, { sprintId, own: [{ at: lateAt, promptId, event }] })
}
