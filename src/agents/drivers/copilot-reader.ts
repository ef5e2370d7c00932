import type { AgentEvent } from '../../contract/events.ts'
import { classOfStatus } from './outcome.ts'
import type { Reader } from './driver.ts'
import { classOfMessage } from './error-messages.ts'
import { asNumber, asText, type JsonObject, objectOf } from './json.ts'
import { jsonLines } from './reader.ts'
import { nothingSeen, type Seen, type Terminal } from './seen.ts'
import { type OpenTools, openTools } from './tools.ts'

/** `copilot --output-format json`. */
export const readCopilot = (): Reader =>
  jsonLines<Stream>({ ...nothingSeen(), tools: openTools(), aborted: false }, { translate })

type Stream = Seen & { readonly tools: OpenTools; aborted: boolean }

function translate(seen: Stream, entry: JsonObject): AgentEvent[] {
  const data = objectOf(entry['data'])
  switch (entry['type']) {
    case 'assistant.message':
      return onMessage(seen, asText(data['content']) ?? '')
    case 'tool.execution_start':
      return [seen.tools.start({ id: idOf(data), name: asText(data['toolName']), input: data['arguments'] })]
    case 'tool.execution_complete': {
      const output = asText(objectOf(data['result'])['content'])
      return [seen.tools.end({ id: idOf(data), ok: data['success'] === true, output })]
    }
    case 'model.call_failure':
      return onFailedCall(seen, data)
    case 'session.error':
      return onError(seen, data)
    case 'abort':
      seen.aborted = true
      return []
    case 'result':
      return onResult(seen, entry)
    default:
      return []
  }
}

const idOf = (data: JsonObject): string => asText(data['toolCallId']) ?? ''

function onMessage(seen: Stream, text: string): AgentEvent[] {
  seen.trouble = undefined
  if (text === '') return []
  seen.text = text
  return [{ kind: 'text', text }]
}

function onFailedCall(seen: Stream, data: JsonObject): AgentEvent[] {
  const status = asNumber(data['statusCode'])
  const attempt = asNumber(data['retryAttempt'])
  seen.trouble = { class: status === undefined ? 'network' : classOfStatus(status), reason: 'the model call failed' }
  return [
    { kind: 'retry', ...(attempt !== undefined && { attempt: attempt + 1 }), ...(status !== undefined && { status }) },
  ]
}

function onError(seen: Stream, data: JsonObject): AgentEvent[] {
  const reason = asText(data['message']) ?? 'the turn failed'
  const status = asNumber(data['statusCode'])
  seen.trouble = { class: status === undefined ? classOfMessage(reason) : classOfStatus(status), reason }
  return []
}

function onResult(seen: Stream, entry: JsonObject): AgentEvent[] {
  seen.sessionId = asText(entry['sessionId']) ?? seen.sessionId
  const terminal = terminalOf(seen, entry['exitCode'])
  seen.terminal = terminal
  return [{ kind: 'terminal', ok: terminal.ok, ...(!terminal.ok && { reason: terminal.reason }) }]
}

function terminalOf({ aborted, trouble }: Stream, exitCode: unknown): Terminal {
  if (aborted) return { ok: false, class: 'aborted', reason: 'the turn was interrupted' }
  if (trouble) return { ok: false, ...trouble }
  return exitCode === 0 ? { ok: true } : { ok: false, class: 'unknown', reason: 'the turn failed' }
}
