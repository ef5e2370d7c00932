import type { FailureClass } from '../../contract/outcome.ts'
import { classifyStatus } from '../readers/outcome.ts'
import { classifyMessage } from '../readers/error-messages.ts'
import { asNumber, asText, type JsonObject, toJsonList, toJsonObject } from '../readers/json.ts'
import type { Terminal, AgentProblem } from '../readers/reader-state.ts'

/** Earlier lines of the stream that help to classify the result. */
export type ResultContext = {
  /** `error` of the synthetic message that the CLI prints for a failed model call. */
  readonly messageError: string | undefined
  readonly limitReached: boolean
  readonly toolsDone: number
}

/** `is_error`, `terminal_reason` and `api_error*` win over `subtype`, which is `success` even for a failed model call. */
export function classifyResult(result: JsonObject, context: ResultContext): Terminal {
  const why = asText(result['terminal_reason'])
  if (why === 'aborted_tools' || why === 'aborted_streaming') {
    return { ok: false, class: 'aborted', reason: 'the turn was interrupted' }
  }
  if (isMalformed(result)) return { ok: false, class: 'protocol', reason: 'its result has fields of the wrong type' }
  if (isReportedSuccess(result)) return findDeniedTools(result, context) ?? { ok: true }
  const failure = classifyFailure(result, context)
  const hopeless = failure === 'unknown' && (asNumber(result['api_error_status']) !== undefined || startFailed(result))
  return { ok: false, class: failure, reason: describeClaudeFailure(result), ...(hopeless && { retryable: false }) }
}

const isMalformed = ({ subtype, is_error, result }: JsonObject): boolean =>
  (subtype !== undefined && typeof subtype !== 'string') ||
  (is_error !== undefined && typeof is_error !== 'boolean') ||
  (result !== undefined && result !== null && typeof result !== 'string')

function isReportedSuccess(result: JsonObject): boolean {
  if (result['is_error'] === true) return false
  if (typeof result['api_error_status'] === 'number' || typeof result['api_error'] === 'string') return false
  const why = asText(result['terminal_reason'])
  if (why !== undefined && why in classOfTerminalReason) return false
  return result['subtype'] === undefined || result['subtype'] === 'success'
}

/** If every tool was denied and none ran, the agent started without permissions, although the result is a success. */
function findDeniedTools(result: JsonObject, { toolsDone }: ResultContext): Terminal | undefined {
  const denied = toJsonList(result['permission_denials']).length
  if (denied === 0 || toolsDone > 0) return undefined
  return { ok: false, class: 'tool_denied', reason: 'every tool that it wanted to use was denied' }
}

function classifyFailure(result: JsonObject, { messageError, limitReached }: ResultContext): FailureClass {
  const ended =
    findClass(classOfTerminalReason, result['terminal_reason']) ?? findClass(classOfSubtype, result['subtype'])
  if (ended) return ended
  const start = findClass(classOfStart, result['startup_failure_reason'])
  if (start) return start
  if (limitReached || oldLimit.test(asText(result['result']) ?? '')) return 'usage_limit'
  const api = findClass(classOfApiError, result['api_error']) ?? findClass(classOfApiError, result['api_error_type'])
  if (api) return api
  const status = asNumber(result['api_error_status'])
  if (status !== undefined) return classifyStatus(status)
  if (signedOut.test(asText(result['result']) ?? '')) return 'auth'
  if (asText(result['result'])?.includes('malformed')) return 'protocol'
  return findClass(classOfMessageError, messageError) ?? classifyMessage(readErrorMessage(result) ?? '')
}

export function classifyRetry(status: number | undefined, error: string | undefined): AgentProblem {
  if (status !== undefined) return { class: classifyStatus(status), reason: `the model's server answered ${status}` }
  const known = error === 'unknown' ? undefined : findClass(classOfMessageError, error)
  return { class: known ?? 'network', reason: 'the model could not be reached' }
}

/** Before `rate_limit_event` existed, the reset time was part of the error message. */
export function parseLegacyReset(result: JsonObject): number | undefined {
  const seconds = oldLimit.exec(asText(result['result']) ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

const oldLimit = /^Claude AI usage limit reached\|(\d{9,11})$/

/** The whole text of a failed result; older versions say it nowhere else. */
const signedOut = /^(?:Not logged in|Invalid API key|OAuth token \w+) · Please run \/login$/

const startFailed = (result: JsonObject): boolean => typeof result['startup_failure_reason'] === 'string'

/** Programs that adopted the protocol put their error here. */
const readErrorMessage = (result: JsonObject): string | undefined => asText(toJsonObject(result['error'])['message'])

function describeClaudeFailure(result: JsonObject): string {
  const message = asText(toJsonList(result['errors'])[0]) ?? readErrorMessage(result) ?? asText(result['result'])
  return (message || asText(result['terminal_reason']) || 'the turn failed').slice(0, 500)
}

type ClassTable = Readonly<Record<string, FailureClass>>

const findClass = (table: ClassTable, name: unknown): FailureClass | undefined =>
  typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined

const classOfTerminalReason: ClassTable = {
  prompt_too_long: 'context',
  blocking_limit: 'context',
  rapid_refill_breaker: 'context',
  max_turns: 'max_turns',
  budget_exhausted: 'budget',
  structured_output_retry_exhausted: 'protocol',
  malformed_tool_use_exhausted: 'protocol',
}

const classOfSubtype: ClassTable = {
  error_max_turns: 'max_turns',
  error_max_budget_usd: 'budget',
  error_max_structured_output_retries: 'protocol',
}

const classOfStart: ClassTable = {
  bypass_root: 'tool_denied',
  org_pin_api_key_conflict: 'auth',
  provider_not_allowed: 'auth',
  org_verify_failed: 'auth',
  org_pin_mismatch: 'auth',
  gateway_signin_required: 'auth',
  gateway_access_denied: 'auth',
  org_config_refused: 'auth',
  proxy_invalid: 'network',
}

const classOfApiError: ClassTable = {
  usage_limit_reached: 'usage_limit',
  connection_failed: 'network',
  stream_idle_timeout: 'network',
  authentication_error: 'auth',
  permission_error: 'auth',
  billing_error: 'auth',
  rate_limit_error: 'rate_limit',
  overloaded_error: 'overloaded',
  api_error: 'overloaded',
  timeout_error: 'overloaded',
  not_found_error: 'not_found',
  request_too_large: 'context',
}

const classOfMessageError: ClassTable = {
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  account_on_hold: 'auth',
  verification_required: 'auth',
  billing_error: 'auth',
  cloud_credential_error: 'auth',
  rate_limit: 'rate_limit',
  overloaded: 'overloaded',
  server_error: 'overloaded',
  model_not_found: 'not_found',
  max_output_tokens: 'context',
}
