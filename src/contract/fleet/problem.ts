import { z } from 'zod'
import { errorCodes, RalphError, type ErrorCode } from '../errors.ts'

/** RFC 9457: an error as returned by the API. Branch on `code`. */
export const ProblemDetails = z.object({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  /** What the user can do about it. */
  hint: z.string().optional(),
  /** Invalid fields of the request. */
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})
export type ProblemDetails = z.output<typeof ProblemDetails>

/** The error that the backend threw. */
export function toRalphError({ code, title, hint }: ProblemDetails): RalphError {
  return new RalphError(isKnownCode(code) ? code : 'INTERNAL', title, hint === undefined ? {} : { hint })
}

const isKnownCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code)
