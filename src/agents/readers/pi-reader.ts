import type { AgentEvent } from '../../contract/events.ts'
import type { Reader } from './reader.ts'
import { classifyMessage } from './error-messages.ts'
import { asNumber, asText, asCount, isJsonObject, type JsonObject, toJsonList, toJsonObject } from './json.ts'
import { createJsonReader } from './reader.ts'
import { createReaderState, type ReaderState } from './reader-state.ts'
import { type ToolTracker, createToolTracker } from './tools.ts'
import { addTokenUsage } from './usage.ts'

/** `pi --mode json`. */
export const readPi = (): Reader =>
  createJsonReader<PiStream>({ ...createReaderState(), tools: createToolTracker() }, { translate: translatePi })

type PiStream = ReaderState & { readonly tools: ToolTracker }

function translatePi(stream: PiStream, entry: JsonObject): AgentEvent[] {
  switch (entry['type']) {
    case 'session':
      return onPiSession(stream, asText(entry['id']))
    case 'message_end':
      return onPiMessage(stream, toJsonObject(entry['message']))
    case 'tool_execution_start':
      return [stream.tools.start({ id: readPiToolId(entry), name: asText(entry['toolName']), input: entry['args'] })]
    case 'tool_execution_end':
      return [
        stream.tools.end({
          id: readPiToolId(entry),
          ok: entry['isError'] !== true,
          output: readPiText(entry['result']),
        }),
      ]
    case 'auto_retry_start':
      return onPiRetry(stream, entry)
    case 'agent_end':
      return endPiTurn(stream)
    default:
      return []
  }
}

const readPiToolId = (entry: JsonObject): string => asText(entry['toolCallId']) ?? ''

function onPiSession(stream: PiStream, id: string | undefined): AgentEvent[] {
  if (id === undefined) return []
  stream.sessionId = id
  return [{ kind: 'session', id }]
}

function onPiMessage(stream: PiStream, message: JsonObject): AgentEvent[] {
  if (message['role'] !== 'assistant') return []
  const usage = toJsonObject(message['usage'])
  stream.usage = addTokenUsage(stream.usage, {
    inputTokens: asCount(usage['input']),
    outputTokens: asCount(usage['output']),
    cacheReadTokens: asCount(usage['cacheRead']),
    cacheWriteTokens: asCount(usage['cacheWrite']),
  })
  const cost = asCount(toJsonObject(usage['cost'])['total'])
  if (cost > 0) stream.costUsd = (stream.costUsd ?? 0) + cost
  const error =
    message['stopReason'] === 'error' ? (asText(message['errorMessage']) ?? 'the model call failed') : undefined
  stream.trouble = error === undefined ? undefined : { class: classifyMessage(error), reason: error }
  const text = readPiText(message)
  if (text !== undefined) stream.text = text
  return [{ kind: 'usage', usage: stream.usage }, ...(text === undefined ? [] : [{ kind: 'text' as const, text }])]
}

function readPiText(holder: unknown): string | undefined {
  const parts = toJsonList(toJsonObject(holder)['content']).filter(isJsonObject)
  const texts = parts.filter((part) => part['type'] === 'text').flatMap((part) => asText(part['text']) ?? [])
  return texts.length > 0 ? texts.join('') : undefined
}

function onPiRetry(stream: PiStream, entry: JsonObject): AgentEvent[] {
  const attempt = asNumber(entry['attempt'])
  const delayMs = asNumber(entry['delayMs'])
  const reason = asText(entry['errorMessage'])
  return [
    {
      kind: 'retry',
      ...(attempt !== undefined && { attempt }),
      ...(delayMs !== undefined && { delayMs }),
      ...(reason !== undefined && { reason }),
    },
  ]
}

/** pi prints "end" after a failed call too, both before it retries and when it gives up, with exit code 0. */
function endPiTurn(stream: PiStream): AgentEvent[] {
  stream.terminal = stream.trouble ? { ok: false, ...stream.trouble } : { ok: true }
  return stream.trouble ? [] : [{ kind: 'terminal', ok: true }]
}
