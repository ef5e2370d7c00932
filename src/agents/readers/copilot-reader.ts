import type { AgentEvent } from '../../contract/events.ts'
import { classifyStatus } from './outcome.ts'
import type { Reader } from './reader.ts'
import { classifyMessage } from './error-messages.ts'
import { asNumber, asText, type JsonObject, toJsonObject } from './json.ts'
import { createJsonReader } from './reader.ts'
import { createReaderState, type ReaderState, type Terminal } from './reader-state.ts'
import { type ToolTracker, createToolTracker } from './tools.ts'

/** `copilot --output-format json`. */
export const readCopilot = (): Reader =>
  createJsonReader<CopilotStream>(
    { ...createReaderState(), tools: createToolTracker(), aborted: false },
    { translate: translateCopilot },
  )

type CopilotStream = ReaderState & { readonly tools: ToolTracker; aborted: boolean }

function translateCopilot(stream: CopilotStream, entry: JsonObject): AgentEvent[] {
  const data = toJsonObject(entry['data'])
  switch (entry['type']) {
    case 'assistant.message':
      return onCopilotMessage(stream, asText(data['content']) ?? '')
    case 'tool.execution_start':
      return [
        stream.tools.start({ id: readCopilotToolId(data), name: asText(data['toolName']), input: data['arguments'] }),
      ]
    case 'tool.execution_complete': {
      const output = asText(toJsonObject(data['result'])['content'])
      return [stream.tools.end({ id: readCopilotToolId(data), ok: data['success'] === true, output })]
    }
    case 'model.call_failure':
      return onFailedCall(stream, data)
    case 'session.error':
      return onCopilotError(stream, data)
    case 'abort':
      stream.aborted = true
      return []
    case 'result':
      return onCopilotResult(stream, entry)
    default:
      return []
  }
}

const readCopilotToolId = (data: JsonObject): string => asText(data['toolCallId']) ?? ''

function onCopilotMessage(stream: CopilotStream, text: string): AgentEvent[] {
  stream.trouble = undefined
  if (text === '') return []
  stream.text = text
  return [{ kind: 'text', text }]
}

function onFailedCall(stream: CopilotStream, data: JsonObject): AgentEvent[] {
  const status = asNumber(data['statusCode'])
  const attempt = asNumber(data['retryAttempt'])
  stream.trouble = { class: status === undefined ? 'network' : classifyStatus(status), reason: 'the model call failed' }
  return [
    { kind: 'retry', ...(attempt !== undefined && { attempt: attempt + 1 }), ...(status !== undefined && { status }) },
  ]
}

function onCopilotError(stream: CopilotStream, data: JsonObject): AgentEvent[] {
  const reason = asText(data['message']) ?? 'the turn failed'
  const status = asNumber(data['statusCode'])
  stream.trouble = { class: status === undefined ? classifyMessage(reason) : classifyStatus(status), reason }
  return []
}

function onCopilotResult(stream: CopilotStream, entry: JsonObject): AgentEvent[] {
  stream.sessionId = asText(entry['sessionId']) ?? stream.sessionId
  const terminal = toCopilotTerminal(stream, entry['exitCode'])
  stream.terminal = terminal
  return [{ kind: 'terminal', ok: terminal.ok, ...(!terminal.ok && { reason: terminal.reason }) }]
}

function toCopilotTerminal({ aborted, trouble }: CopilotStream, exitCode: unknown): Terminal {
  if (aborted) return { ok: false, class: 'aborted', reason: 'the turn was interrupted' }
  if (trouble) return { ok: false, ...trouble }
  return exitCode === 0 ? { ok: true } : { ok: false, class: 'unknown', reason: 'the turn failed' }
}
