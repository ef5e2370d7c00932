import type { FailureClass } from '../../contract/outcome.ts'
import { classOfStatus } from './outcome.ts'
import { classOfMessage } from './error-messages.ts'
import { asNumber, asText, type JsonObject, objectOf } from './json.ts'

export type AcpFailure = { readonly class: FailureClass; readonly reason: string; readonly retryable?: boolean }

/**
 * What the error of a request means: its kind where the agent tells one, else its code, else its message. Some things only
 * the message tells: a connection that broke has the code 500.
 */
export function acpFailure(error: JsonObject): AcpFailure {
  const reason = asText(error['message']) ?? 'the request failed'
  const kind = kinds[asText(objectOf(error['data'])['errorKind']) ?? '']
  const special = classOfMessage(reason)
  if (special === 'context' || special === 'usage_limit' || special === 'network') return { class: special, reason }
  if (kind) return { class: kind, reason }
  const code = asNumber(error['code']) ?? 0
  if (code === authenticationRequired) return { class: 'auth', reason }
  if (code >= 400 && code < 600) return { class: classOfStatus(code), reason }
  return { class: special, reason }
}

const authenticationRequired = -32_000

const kinds: Readonly<Record<string, FailureClass>> = {
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  billing_error: 'auth',
  rate_limit: 'rate_limit',
  overloaded: 'overloaded',
  server_error: 'overloaded',
  model_not_found: 'not_found',
}
