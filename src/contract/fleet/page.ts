import { z } from 'zod'

/** Ids of the fleet's nouns are UUIDs: they tell nothing and cannot be guessed. */
export const Uuid = z.uuid()

/** What a list can be asked for. A cursor comes from the answer before and means nothing to anybody else. */
export const PageQuery = z.strictObject({
  cursor: z.string().max(200).optional().describe('Where to go on: `next` of the answer before'),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('At most this many'),
})
export type PageQuery = z.output<typeof PageQuery>

/** A part of a list; `next` is absent at its end. */
export const pageOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), next: z.string().optional() })

export type Page<T> = { items: T[]; next?: string | undefined }

/** Nothing to say but that it is done. */
export const Done = z.object({ success: z.literal(true) })
export const done: z.output<typeof Done> = { success: true }

export const name = z.string().trim().min(1).max(100)
/** An agent program: a name, or `command:` with a path. */
export const program = z.string().trim().min(1).max(4200)
export const someText = z.string().trim().min(1).max(100_000)
/** A body without fields. */
export const nothing = z.strictObject({})
