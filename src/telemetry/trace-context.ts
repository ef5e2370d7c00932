import { createHash } from 'node:crypto'

/** Where a span belongs: W3C trace context, in hexadecimal. */
export type TraceContext = { readonly traceId: string; readonly spanId: string }

/**
 * Ids are derived from names, so that a resumed run, another replica and a machine agree on them without talking to each
 * other: the trace of a sprint has one id, and an attempt has one span.
 */
export const deriveTraceId = (sprint: string): string => digest('trace', sprint).slice(0, 32)
export const deriveSpanId = (...path: readonly string[]): string => digest('span', ...path).slice(0, 16)

const digest = (...parts: readonly string[]): string => createHash('sha256').update(parts.join('\0')).digest('hex')

/** Parses a `TRACEPARENT`; undefined if it is none. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, traceId, spanId] = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(text?.trim() ?? '') ?? []
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId }
}

const formatTraceparent = ({ traceId, spanId }: TraceContext): string => `00-${traceId}-${spanId}-01`

export const iterationSpanId = (sprint: string, iteration: number): string =>
  deriveSpanId(sprint, 'iteration', `${iteration}`)

export const attemptSpanId = (sprint: string, iteration: number, attempt: number): string =>
  deriveSpanId(sprint, 'attempt', `${iteration}`, `${attempt}`)

type TracedSprint = { readonly sprint: string; readonly parent: TraceContext | undefined }

/** Names the `TRACEPARENT` of each process that a sprint starts: that of its attempt, else that of its iteration. */
export const createTraceparents =
  ({ sprint, parent }: TracedSprint) =>
  (process: string): string | undefined => {
    const [, iteration, attempt] = /^(\d+)-(?:(\d+)$)?/.exec(process) ?? []
    if (iteration === undefined) return undefined
    const spanId =
      attempt === undefined
        ? iterationSpanId(sprint, Number(iteration))
        : attemptSpanId(sprint, Number(iteration), Number(attempt))
    return formatTraceparent({ traceId: parent?.traceId ?? deriveTraceId(sprint), spanId })
  }
