import type { AgentEvent } from '../../contract/events.ts'
import type { Reader } from './driver.ts'
import { asNumber, asText, countOf, isObject, type JsonObject, listOf, objectOf } from './json.ts'
import { jsonLines } from './reader.ts'
import { nothingSeen, type Seen } from './seen.ts'
import { type OpenTools, openTools } from './tools.ts'

/** `goose run --output-format stream-json`. */
export const readGoose = (): Reader =>
  jsonLines<Stream>({ ...nothingSeen(), tools: openTools(), messageId: undefined }, { translate })

type Stream = Seen & { readonly tools: OpenTools; messageId: string | undefined }

function translate(seen: Stream, entry: JsonObject): AgentEvent[] {
  if (entry['type'] === 'complete') return onComplete(seen, entry)
  if (entry['type'] !== 'message') return []
  const message = objectOf(entry['message'])
  return listOf(message['content'])
    .filter(isObject)
    .flatMap((part) => onPart(seen, part, message))
}

function onPart(seen: Stream, part: JsonObject, message: JsonObject): AgentEvent[] {
  const id = asText(part['id']) ?? ''
  switch (part['type']) {
    case 'text':
      return message['role'] === 'assistant' ? onText(seen, asText(part['text']) ?? '', asText(message['id'])) : []
    case 'toolRequest': {
      const call = objectOf(objectOf(part['toolCall'])['value'])
      return [seen.tools.start({ id, name: asText(call['name']), input: call['arguments'] })]
    }
    case 'toolResponse': {
      const result = objectOf(part['toolResult'])
      const value = objectOf(result['value'])
      const texts = listOf(value['content']).flatMap((one) => asText(objectOf(one)['text']) ?? [])
      const ok = result['status'] === 'success' && value['isError'] !== true
      return [seen.tools.end({ id, ok, output: texts.join('\n') })]
    }
    default:
      return []
  }
}

/** Text comes in chunks under the id of its message. */
function onText(seen: Stream, text: string, messageId: string | undefined): AgentEvent[] {
  seen.text = messageId !== undefined && messageId === seen.messageId ? seen.text + text : text
  seen.messageId = messageId
  return [{ kind: 'text', text }]
}

/** Goose reports a failed model call as assistant text and ends normally; only the token count is missing. */
function onComplete(seen: Stream, entry: JsonObject): AgentEvent[] {
  const ok = asNumber(entry['total_tokens']) !== undefined
  const reason = 'it ended without having used its model'
  seen.terminal = ok ? { ok } : { ok, class: 'unknown', reason }
  seen.usage = {
    inputTokens: countOf(entry['input_tokens']),
    outputTokens: countOf(entry['output_tokens']),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
  return [
    { kind: 'usage', usage: seen.usage },
    { kind: 'terminal', ok, ...(!ok && { reason }) },
  ]
}
