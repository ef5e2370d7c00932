import type { FailureClass } from '../../contract/outcome.ts'
import { classifyStatus } from './outcome.ts'
import { classifyMessage } from './error-messages.ts'
import { asNumber, asText, type JsonObject, toJsonObject } from './json.ts'

export type AcpFailure = { readonly class: FailureClass; readonly reason: string; readonly retryable?: boolean }

/**
 * Classifies the error of a request: by its kind if the agent reports one, else by its code, else by its message. Some failures
 * show in the message only, e.g. a broken connection has the code 500.
 */
export function classifyAcpError(error: JsonObject): AcpFailure {
  const reason = asText(error['message']) ?? 'the request failed'
  const kind = classByErrorKind[asText(toJsonObject(error['data'])['errorKind']) ?? '']
  const special = classifyMessage(reason)
  if (special === 'context' || special === 'usage_limit' || special === 'network') return { class: special, reason }
  if (kind) return { class: kind, reason }
  const code = asNumber(error['code']) ?? 0
  if (code === authenticationRequired) return { class: 'auth', reason }
  if (code >= 400 && code < 600) return { class: classifyStatus(code), reason }
  return { class: special, reason }
}

const authenticationRequired = -32_000

const classByErrorKind: Readonly<Record<string, FailureClass>> = {
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  billing_error: 'auth',
  rate_limit: 'rate_limit',
  overloaded: 'overloaded',
  server_error: 'overloaded',
  model_not_found: 'not_found',
}
