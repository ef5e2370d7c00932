import { z } from 'zod'
import { SprintEvent } from './events.ts'
import { Timestamp } from './time.ts'

/** The middle of longer tool outputs is cut out; `read-file` returns the whole. */
export const maxOutputLength = 16 * 1024

/** One event of an event log. `seq` increases by one. */
export const LoggedEvent = z.object({
  seq: z.int().min(1),
  at: Timestamp,
  sprintId: z.uuid().optional(),
  promptId: z.uuid().optional(),
  event: SprintEvent,
  /** Path of the whole output for `read-file` in the area `agent`. */
  clipped: z.string().optional(),
  /** With `attempt-started`: the prompt that the agent receives. */
  prompt: z.string().optional(),
})
export type LoggedEvent = z.output<typeof LoggedEvent>
