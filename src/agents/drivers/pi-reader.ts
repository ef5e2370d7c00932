import type { AgentEvent } from '../../contract/events.ts'
import type { Reader } from './driver.ts'
import { classOfMessage } from './error-messages.ts'
import { asNumber, asText, countOf, isObject, type JsonObject, listOf, objectOf } from './json.ts'
import { jsonLines } from './reader.ts'
import { nothingSeen, type Seen } from './seen.ts'
import { type OpenTools, openTools } from './tools.ts'
import { addUsage } from './usage.ts'

/** `pi --mode json`. */
export const readPi = (): Reader => jsonLines<Stream>({ ...nothingSeen(), tools: openTools() }, { translate })

type Stream = Seen & { readonly tools: OpenTools }

function translate(seen: Stream, entry: JsonObject): AgentEvent[] {
  switch (entry['type']) {
    case 'session':
      return onSession(seen, asText(entry['id']))
    case 'message_end':
      return onMessage(seen, objectOf(entry['message']))
    case 'tool_execution_start':
      return [seen.tools.start({ id: idOf(entry), name: asText(entry['toolName']), input: entry['args'] })]
    case 'tool_execution_end':
      return [seen.tools.end({ id: idOf(entry), ok: entry['isError'] !== true, output: textOf(entry['result']) })]
    case 'auto_retry_start':
      return onRetry(seen, entry)
    case 'agent_end':
      return onEnd(seen)
    default:
      return []
  }
}

const idOf = (entry: JsonObject): string => asText(entry['toolCallId']) ?? ''

function onSession(seen: Stream, id: string | undefined): AgentEvent[] {
  if (id === undefined) return []
  seen.sessionId = id
  return [{ kind: 'session', id }]
}

function onMessage(seen: Stream, message: JsonObject): AgentEvent[] {
  if (message['role'] !== 'assistant') return []
  const usage = objectOf(message['usage'])
  seen.usage = addUsage(seen.usage, {
    inputTokens: countOf(usage['input']),
    outputTokens: countOf(usage['output']),
    cacheReadTokens: countOf(usage['cacheRead']),
    cacheWriteTokens: countOf(usage['cacheWrite']),
  })
  const cost = countOf(objectOf(usage['cost'])['total'])
  if (cost > 0) seen.costUsd = (seen.costUsd ?? 0) + cost
  const error =
    message['stopReason'] === 'error' ? (asText(message['errorMessage']) ?? 'the model call failed') : undefined
  seen.trouble = error === undefined ? undefined : { class: classOfMessage(error), reason: error }
  const text = textOf(message)
  if (text !== undefined) seen.text = text
  return [{ kind: 'usage', usage: seen.usage }, ...(text === undefined ? [] : [{ kind: 'text' as const, text }])]
}

function textOf(holder: unknown): string | undefined {
  const parts = listOf(objectOf(holder)['content']).filter(isObject)
  const texts = parts.filter((part) => part['type'] === 'text').flatMap((part) => asText(part['text']) ?? [])
  return texts.length > 0 ? texts.join('') : undefined
}

function onRetry(seen: Stream, entry: JsonObject): AgentEvent[] {
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
function onEnd(seen: Stream): AgentEvent[] {
  seen.terminal = seen.trouble ? { ok: false, ...seen.trouble } : { ok: true }
  return seen.trouble ? [] : [{ kind: 'terminal', ok: true }]
}
