import { z } from 'zod'
import { RalphError } from '../contract/errors.ts'
import {
  maxMessageBytes,
  reports,
  requests,
  type ReportBody,
  type ReportReply,
  type ReportType,
  type RequestBody,
  type RequestReply,
  type RequestType,
} from '../contract/fleet/machine-messages.ts'

// oxlint-disable typescript/no-unsafe-type-assertion -- the schema of a type is looked up by the type; message.test.ts holds both together

/** A body as sent and stored: JSON. */
export type WireBody = unknown

export const isRequestType = (type: string): type is RequestType => Object.hasOwn(requests, type)
export const isReportType = (type: string): type is ReportType => Object.hasOwn(reports, type)

export const encodeRequest = <T extends RequestType>(type: T, body: RequestBody<T>): WireBody =>
  encodeBody(requests[type].body, body, type)

export const decodeRequest = <T extends RequestType>(type: T, wire: WireBody): RequestBody<T> =>
  decodeBody(requests[type].body, wire, type) as RequestBody<T>

export const encodeReply = <T extends RequestType>(type: T, reply: RequestReply<T>): WireBody =>
  encodeBody(requests[type].reply, reply, type)

export const decodeReply = <T extends RequestType>(type: T, wire: WireBody): RequestReply<T> =>
  decodeBody(requests[type].reply, wire, type) as RequestReply<T>

export const encodeReport = <T extends ReportType>(type: T, body: ReportBody<T>): WireBody =>
  encodeBody(reports[type].body, body, type)

export const decodeReport = <T extends ReportType>(type: T, wire: WireBody): ReportBody<T> =>
  decodeBody(reports[type].body, wire, type) as ReportBody<T>

export const encodeReportReply = <T extends ReportType>(type: T, reply: ReportReply<T>): WireBody =>
  encodeBody(reports[type].reply, reply, type)

export const decodeReportReply = <T extends ReportType>(type: T, wire: WireBody): ReportReply<T> =>
  decodeBody(reports[type].reply, wire, type) as ReportReply<T>

function encodeBody(schema: z.ZodType, value: unknown, type: string): WireBody {
  const wire = z.encode(schema, value)
  if (JSON.stringify(wire).length > maxMessageBytes) {
    throw new RalphError(
      'MESSAGE_TOO_LONG',
      `the message "${type}" is longer than ${maxMessageBytes / 1024 / 1024} MiB`,
    )
  }
  return wire
}

/** The error names the invalid field but does not quote its value, which may be a secret. */
function decodeBody(schema: z.ZodType, wire: WireBody, type: string): unknown {
  const parsed = z.safeDecode(schema, wire)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new RalphError(
    'MESSAGE_INVALID',
    `the message "${type}" is malformed at ${issue?.path.join('.') || 'its root'}`,
  )
}
