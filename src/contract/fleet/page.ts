import { z } from 'zod'

/** IDs of the fleet are UUIDs: they reveal nothing and cannot be guessed. */
export const Uuid = z.uuid()

/** Pagination of a list. Cursors come from the previous page and are opaque to clients. */
export const PageQuery = z.strictObject({
  cursor: z.string().max(200).optional().describe('Where to continue: `next` of the previous page'),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('Maximum number of items'),
})
export type PageQuery = z.output<typeof PageQuery>

/** One page of a list; `next` is absent on the last page. */
export const pageSchema = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: z.string().optional() })

export type Page<T> = { items: T[]; next?: string | undefined }

/** A response without data. */
export const DoneResponse = z.object({ success: z.literal(true) })
export const doneResponse: z.output<typeof DoneResponse> = { success: true }

/** No control characters, no line separators, nothing that reverses the direction of the text around it. */
const oneLine = /^[^\p{Cc}\u2028-\u202E\u2066-\u2069]*$/u
const oneLineMessage = 'control characters are not allowed'

export const resourceName = z.string().trim().min(1).max(100).regex(oneLine, oneLineMessage)
/** An agent program: a name, or `command:` with a path. */
export const programName = z.string().trim().min(1).max(4200).regex(oneLine, oneLineMessage)
export const requiredText = z.string().trim().min(1).max(100_000)
/** A body without fields. */
export const emptyBody = z.strictObject({})
