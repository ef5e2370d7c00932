import { z } from 'zod'
import { SprintEvent } from '../events.ts'
import { Timestamp } from '../time.ts'
import { AgentRow } from './agent.ts'
import { Machine } from './machine.ts'
import { Uuid } from './page.ts'
import { AgentPrompt } from './prompt.ts'
import { Question } from './question.ts'

/** What happened in a sprint or a conversation, as it is kept. `seq` grows by one within the sprint. */
export const StoredEvent = z.object({
  /** Position in the whole backend; the SSE id. */
  id: z.string(),
  agentId: Uuid,
  sprintId: Uuid.optional(),
  promptId: Uuid.optional(),
  seq: z.int(),
  at: Timestamp,
  event: SprintEvent,
  /** The output of a tool was too long to be sent along; it can be asked for by this event's id. */
  clipped: z.boolean().optional(),
})
export type StoredEvent = z.output<typeof StoredEvent>

/** What one SSE frame says; its name is `type`. Rows come whole, so that a client only has to put them into place. */
export const Change = z.discriminatedUnion('type', [
  z.object({ type: z.literal('event'), event: StoredEvent }),
  z.object({ type: z.literal('agent'), row: AgentRow }),
  z.object({ type: z.literal('agent-gone'), agentId: Uuid }),
  z.object({ type: z.literal('prompt'), prompt: AgentPrompt }),
  z.object({ type: z.literal('machine'), machine: Machine }),
  z.object({ type: z.literal('question'), question: Question }),
  /** The sprint has a new revision; who shows it asks for it. */
  z.object({ type: z.literal('sprint'), sprintId: Uuid, agentId: Uuid, rev: z.int() }),
  /** Nothing has changed; the id of this frame says where you are. Comes when you are up to date, and every 15 s. */
  z.object({ type: z.literal('here') }),
  /** Too much was missed, or you may see other things than before: ask for everything again. */
  z.object({ type: z.literal('start-over') }),
])
export type Change = z.output<typeof Change>
