import { z } from 'zod'
import { errorCodes, RalphError, type ErrorCode } from '../errors.ts'

/** RFC 9457: an error as the API tells it. Branch on `code`. */
export const Problem = z.object({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  /** What the person can do about it. */
  hint: z.string().optional(),
  /** Fields of the request that were wrong. */
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})
export type Problem = z.output<typeof Problem>

/** The same error that the backend threw. */
export function errorOf({ code, title, hint }: Problem): RalphError {
  return new RalphError(isCode(code) ? code : 'INTERNAL', title, hint === undefined ? {} : { hint })
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code)
