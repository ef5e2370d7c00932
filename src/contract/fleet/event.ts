import { z } from 'zod'
import { SprintEvent } from '../events.ts'
import { Timestamp } from '../time.ts'
import { FleetRow } from './agent.ts'
import { Machine } from './machine.ts'
import { Uuid } from './page.ts'
import { AgentPrompt } from './prompt.ts'
import { SprintQuestion } from './question.ts'

/** A stored event of a sprint or conversation. `seq` increases by one within the sprint. */
export const StoredEvent = z.object({
  /** Position in the event log of the whole backend; also the SSE ID. */
  id: z.string(),
  agentId: Uuid,
  sprintId: Uuid.optional(),
  promptId: Uuid.optional(),
  seq: z.int(),
  at: Timestamp,
  event: SprintEvent,
  /** The tool output was too long to include; request it with this event's ID. */
  clipped: z.boolean().optional(),
})
export type StoredEvent = z.output<typeof StoredEvent>

/** The content of one SSE frame; `type` is its event name. Rows are complete, so a client only replaces them. */
export const FleetChange = z.discriminatedUnion('type', [
  z.object({ type: z.literal('event'), event: StoredEvent }),
  z.object({ type: z.literal('agent'), row: FleetRow }),
  z.object({ type: z.literal('agent-gone'), agentId: Uuid }),
  z.object({ type: z.literal('prompt'), prompt: AgentPrompt }),
  z.object({ type: z.literal('machine'), machine: Machine }),
  z.object({ type: z.literal('question'), question: SprintQuestion }),
  /** The sprint has a new revision; clients that show it request it. */
  z.object({ type: z.literal('sprint'), sprintId: Uuid, agentId: Uuid, rev: z.int() }),
  /** No change; the ID of this frame is the current position. Sent once the client is up to date, and every 15 s. */
  z.object({ type: z.literal('here') }),
  /** The client missed too much, or its access has changed: request everything again. */
  z.object({ type: z.literal('start-over') }),
])
export type FleetChange = z.output<typeof FleetChange>
