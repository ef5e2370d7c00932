import type { AgentEvent } from '../../contract/events.ts'
import type { Reader } from './reader.ts'
import { asNumber, asText, asCount, isJsonObject, type JsonObject, toJsonList, toJsonObject } from './json.ts'
import { createJsonReader } from './reader.ts'
import { createReaderState, type ReaderState } from './reader-state.ts'
import { type ToolTracker, createToolTracker } from './tools.ts'

/** `goose run --output-format stream-json`. */
export const readGoose = (): Reader =>
  createJsonReader<GooseStream>(
    { ...createReaderState(), tools: createToolTracker(), messageId: undefined },
    { translate: translateGoose },
  )

type GooseStream = ReaderState & { readonly tools: ToolTracker; messageId: string | undefined }

function translateGoose(stream: GooseStream, entry: JsonObject): AgentEvent[] {
  if (entry['type'] === 'complete') return onComplete(stream, entry)
  if (entry['type'] !== 'message') return []
  const message = toJsonObject(entry['message'])
  return toJsonList(message['content'])
    .filter(isJsonObject)
    .flatMap((part) => onPart(stream, part, message))
}

function onPart(stream: GooseStream, part: JsonObject, message: JsonObject): AgentEvent[] {
  const id = asText(part['id']) ?? ''
  switch (part['type']) {
    case 'text':
      return message['role'] === 'assistant'
        ? onGooseText(stream, asText(part['text']) ?? '', asText(message['id']))
        : []
    case 'toolRequest': {
      const call = toJsonObject(toJsonObject(part['toolCall'])['value'])
      return [stream.tools.start({ id, name: asText(call['name']), input: call['arguments'] })]
    }
    case 'toolResponse': {
      const result = toJsonObject(part['toolResult'])
      const value = toJsonObject(result['value'])
      const texts = toJsonList(value['content']).flatMap((one) => asText(toJsonObject(one)['text']) ?? [])
      const ok = result['status'] === 'success' && value['isError'] !== true
      return [stream.tools.end({ id, ok, output: texts.join('\n') })]
    }
    default:
      return []
  }
}

/** Text comes in chunks under the id of its message. */
function onGooseText(stream: GooseStream, text: string, messageId: string | undefined): AgentEvent[] {
  stream.text = messageId !== undefined && messageId === stream.messageId ? stream.text + text : text
  stream.messageId = messageId
  return [{ kind: 'text', text }]
}

/** Goose reports a failed model call as assistant text and ends normally; only the token count is missing. */
function onComplete(stream: GooseStream, entry: JsonObject): AgentEvent[] {
  const ok = asNumber(entry['total_tokens']) !== undefined
  const reason = 'it ended without having used its model'
  stream.terminal = ok ? { ok } : { ok, class: 'unknown', reason }
  stream.usage = {
    inputTokens: asCount(entry['input_tokens']),
    outputTokens: asCount(entry['output_tokens']),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
  return [
    { kind: 'usage', usage: stream.usage },
    { kind: 'terminal', ok, ...(!ok && { reason }) },
  ]
}
