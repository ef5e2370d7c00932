import type { AgentEvent } from '../../contract/events.ts'
import type { Usage } from '../../contract/outcome.ts'
import { acpFailure, type AcpFailure } from './acp-failures.ts'
import type { Reader } from './driver.ts'
import { statusIn } from './error-messages.ts'
import { asNumber, asText, countOf, isObject, type JsonObject, listOf, objectOf } from './json.ts'
import { jsonLines } from './reader.ts'
import { nothingSeen, type Seen, type Terminal } from './seen.ts'
import { type OpenTools, openTools } from './tools.ts'

/**
 * Reads the output of the bridge: every message of the Agent Client Protocol as `{t, dir, m}`, `->` to the agent and `<-` from
 * it, mixed with the bridge's own lines as `{t, bridge, …}`.
 */
export function readAcp(): Reader {
  return jsonLines<Stream>(
    {
      ...nothingSeen(),
      tools: openTools(),
      asked: new Map(),
      announced: new Map(),
      prompted: false,
      resumed: false,
      messageId: undefined,
      inMessage: false,
      costBefore: undefined,
      toolsDone: 0,
    },
    { translate },
  )
}

type Stream = Seen & {
  readonly tools: OpenTools
  /** Method by id, for requests without an answer yet. */
  readonly asked: Map<unknown, string>
  /** Names of the tools that were announced but have not started. */
  readonly announced: Map<string, string>
  /** False while a resumed session replays its history. */
  prompted: boolean
  resumed: boolean
  messageId: string | undefined
  inMessage: boolean
  costBefore: number | undefined
  toolsDone: number
}

function translate(seen: Stream, entry: JsonObject): AgentEvent[] {
  const message = objectOf(entry['m'])
  if (typeof entry['bridge'] === 'string') return onBridge(seen, entry)
  if (entry['dir'] === '->') return onRequest(seen, message)
  if (entry['dir'] !== '<-') return []
  if (message['method'] === 'session/update') return onUpdate(seen, objectOf(objectOf(message['params'])['update']))
  if (message['method'] === 'session/request_permission') return onPermission(seen, objectOf(message['params']))
  return 'method' in message ? [] : onAnswer(seen, message)
}

function onRequest(seen: Stream, message: JsonObject): AgentEvent[] {
  const method = asText(message['method'])
  if (method === undefined || message['id'] === undefined) return []
  seen.asked.set(message['id'], method)
  if (method === 'session/prompt') seen.prompted = true
  if (method !== 'session/load' && method !== 'session/resume') return []
  seen.resumed = true
  return onSession(seen, asText(objectOf(message['params'])['sessionId']))
}

function onSession(seen: Stream, id: string | undefined): AgentEvent[] {
  if (id === undefined || id === seen.sessionId) return []
  seen.sessionId = id
  return [{ kind: 'session', id }]
}

function onAnswer(seen: Stream, message: JsonObject): AgentEvent[] {
  const method = seen.asked.get(message['id'])
  seen.asked.delete(message['id'])
  const error = message['error']
  if (isObject(error)) return method === undefined || isOptional(method) ? [] : onEnd(seen, failed(seen, error))
  const result = objectOf(message['result'])
  if (method === 'initialize') seen.canResume = canResume(objectOf(result['agentCapabilities']))
  if (method === 'session/new') return onSession(seen, asText(result['sessionId']))
  if (method !== 'session/prompt') return []
  const usage = usageOf(result)
  if (usage) seen.usage = usage
  return [
    ...(usage ? [{ kind: 'usage' as const, usage }] : []),
    ...onEnd(seen, endOf(seen, asText(result['stopReason']))),
  ]
}

const canResume = (capabilities: JsonObject): boolean =>
  capabilities['loadSession'] === true || isObject(objectOf(capabilities['sessionCapabilities'])['resume'])

/** The bridge continues without them, or reports the failure itself. */
const isOptional = (method: string): boolean => method === 'session/close' || method === 'session/set_config_option'

function failed(seen: Stream, error: JsonObject): Terminal {
  if (seen.sessionId !== undefined && !seen.prompted && seen.resumed) seen.sessionId = undefined
  return { ok: false, ...acpFailure(error) }
}

function onEnd(seen: Stream, terminal: Terminal): AgentEvent[] {
  if (seen.question) return []
  seen.terminal = terminal
  return [{ kind: 'terminal', ok: terminal.ok, ...(!terminal.ok && { reason: terminal.reason }) }]
}

/** Some adapters end the turn successfully even though they could not reach the model. */
function endOf(seen: Stream, stopReason: string | undefined): Terminal {
  if (stopReason === 'cancelled') return { ok: false, class: 'aborted', reason: 'the turn was cancelled' }
  const failure = stopReasons[stopReason ?? '']
  if (failure) return { ok: false, ...failure }
  if (stopReason !== 'end_turn') {
    return { ok: false, class: 'protocol', reason: `it ended with the unknown reason ${stopReason ?? '(none)'}` }
  }
  return seen.trouble ? { ok: false, ...seen.trouble } : { ok: true }
}

const stopReasons: Readonly<Record<string, AcpFailure>> = {
  max_tokens: { class: 'context', reason: 'the answer was cut off at the token limit' },
  max_turn_requests: { class: 'max_turns', reason: 'the limit of model requests in one turn was reached' },
  refusal: { class: 'unknown', reason: 'the agent refused to continue', retryable: false },
}

function onUpdate(seen: Stream, update: JsonObject): AgentEvent[] {
  if (update['sessionUpdate'] === 'usage_update') return onCost(seen, objectOf(update['cost']))
  if (!seen.prompted) return []
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return onText(seen, update)
    case 'tool_call':
    case 'tool_call_update':
      return onTool(seen, update)
    case 'session_info_update':
      return onCodexError(seen, objectOf(objectOf(update['_meta'])['codex']))
    default:
      return []
  }
}

/** The final message is the text after the last tool call; without an id, chunks belong to one message. */
function onText(seen: Stream, update: JsonObject): AgentEvent[] {
  const text = asText(objectOf(update['content'])['text'])
  if (text === undefined) return []
  const messageId = asText(update['messageId'])
  seen.text = seen.inMessage && messageId === seen.messageId ? seen.text + text : text
  seen.messageId = messageId
  seen.inMessage = true
  return [{ kind: 'text', text }]
}

/** Agents announce a call before they know its input, so emit its start with the first update that carries the input. */
function onTool(seen: Stream, update: JsonObject): AgentEvent[] {
  const id = asText(update['toolCallId'])
  if (id === undefined) return []
  seen.inMessage = false
  const ended = update['status'] === 'completed' || update['status'] === 'failed'
  const known = ended || update['status'] === 'in_progress' || Object.keys(objectOf(update['rawInput'])).length > 0
  const name = asText(update['name']) ?? asText(update['kind'])
  if (!known && name !== undefined) seen.announced.set(id, name)
  const start = known && !seen.tools.has(id) ? [startTool(seen, id, update)] : []
  if (!ended) return start
  const ok = update['status'] === 'completed'
  if (ok) seen.toolsDone++
  return [...start, seen.tools.end({ id, ok, output: outputOf(update) })]
}

function startTool(seen: Stream, id: string, call: JsonObject): AgentEvent {
  const title = asText(call['title'])
  const name = seen.announced.get(id) ?? asText(call['name']) ?? asText(call['kind']) ?? title
  seen.announced.delete(id)
  const input = isObject(call['rawInput']) ? call['rawInput'] : title === undefined ? undefined : { command: title }
  return seen.tools.start({ id, name, input })
}

function outputOf(update: JsonObject): string | undefined {
  const raw = update['rawOutput']
  const texts = listOf(update['content']).flatMap((part) => asText(objectOf(objectOf(part)['content'])['text']) ?? [])
  const terminal = asText(objectOf(objectOf(update['_meta'])['terminal_output_delta'])['data'])
  return asText(raw) ?? asText(objectOf(raw)['output']) ?? (texts.length > 0 ? texts.join('\n') : terminal)
}

/** Some agents ask for permission before they announce the tool call. */
function onPermission(seen: Stream, params: JsonObject): AgentEvent[] {
  const call = objectOf(params['toolCall'])
  const id = asText(call['toolCallId'])
  return id === undefined || seen.tools.has(id) ? [] : [startTool(seen, id, call)]
}

/** The amount counts from the start of the session; for a resumed session, subtract what it cost before, if known. */
function onCost(seen: Stream, cost: JsonObject): AgentEvent[] {
  const amount = asNumber(cost['amount'])
  if (amount === undefined || cost['currency'] !== 'USD') return []
  if (!seen.prompted) seen.costBefore = amount
  else if (seen.resumed && seen.costBefore === undefined) seen.costUsd = undefined
  else seen.costUsd = Math.max(0, amount - (seen.costBefore ?? 0))
  return []
}

/** codex-acp reports model failures only here, and then ends the turn as if it had succeeded. */
function onCodexError(seen: Stream, codex: JsonObject): AgentEvent[] {
  const error = codex['error']
  if (!isObject(error)) {
    if (objectOf(codex['threadStatus'])['type'] === 'idle') seen.trouble = undefined
    return []
  }
  const reason = asText(error['additionalDetails']) ?? asText(error['message']) ?? 'the model could not be reached'
  const { class: failure } = acpFailure({ message: reason })
  seen.trouble = { class: failure, reason }
  if (error['willRetry'] !== true) return []
  const status = statusIn(reason)
  return [{ kind: 'retry', ...(status !== undefined && { status }), reason }]
}

/** Token counts are not part of the stable protocol; an attempt without them has no price. */
function usageOf(result: JsonObject): Usage | undefined {
  const usage = result['usage']
  if (isObject(usage)) {
    return {
      inputTokens: countOf(usage['inputTokens']),
      outputTokens: countOf(usage['outputTokens']) + countOf(usage['thoughtTokens']),
      cacheReadTokens: countOf(usage['cachedReadTokens']),
      cacheWriteTokens: countOf(usage['cachedWriteTokens']),
    }
  }
  const counts = objectOf(objectOf(result['_meta'])['quota'])['token_count']
  if (!isObject(counts)) return undefined
  return {
    inputTokens: countOf(counts['input_tokens']),
    outputTokens: countOf(counts['output_tokens']),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
}

/** Failures of the bridge itself. If the agent dies, the missing answer shows it. */
function onBridge(seen: Stream, entry: JsonObject): AgentEvent[] {
  const reason = asText(entry['reason']) ?? 'the connection failed'
  switch (entry['bridge']) {
    case 'not-found':
      return onEnd(seen, { ok: false, class: 'not_found', reason })
    case 'refused':
      return onEnd(seen, { ok: false, class: 'unknown', reason, retryable: false })
    case 'question':
      return onQuestion(seen, reason, entry)
    default:
      return []
  }
}

/** The question ends the turn: ignore what the agent says after it was cancelled. */
function onQuestion(seen: Stream, reason: string, entry: JsonObject): AgentEvent[] {
  const options = listOf(entry['options']).flatMap((option) => asText(option) ?? [])
  const events = onEnd(seen, { ok: false, class: 'tool_denied', reason })
  seen.question = { reason, details: asText(entry['details']) ?? '', ...(options.length > 0 && { options }) }
  return events
}
