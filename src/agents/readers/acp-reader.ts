import type { AgentEvent } from '../../contract/events.ts'
import type { Usage } from '../../contract/outcome.ts'
import { classifyAcpError, type AcpFailure } from './acp-failures.ts'
import type { Reader } from './reader.ts'
import { parseStatus } from './error-messages.ts'
import { asNumber, asText, asCount, isJsonObject, type JsonObject, toJsonList, toJsonObject } from './json.ts'
import { createJsonReader } from './reader.ts'
import { createReaderState, type ReaderState, type Terminal } from './reader-state.ts'
import { type ToolTracker, createToolTracker } from './tools.ts'

/**
 * Reads the output of the bridge: every message of the Agent Client Protocol as `{t, dir, m}`, `->` to the agent and `<-` from
 * it, mixed with the bridge's own lines as `{t, bridge, …}`.
 */
export function readAcp(): Reader {
  return createJsonReader<AcpStream>(
    {
      ...createReaderState(),
      tools: createToolTracker(),
      pendingRequests: new Map(),
      announced: new Map(),
      prompted: false,
      resumed: false,
      messageId: undefined,
      inMessage: false,
      costBefore: undefined,
      toolsDone: 0,
    },
    { translate: translateAcp },
  )
}

type AcpStream = ReaderState & {
  readonly tools: ToolTracker
  /** Method by id, for requests without an answer yet. */
  readonly pendingRequests: Map<unknown, string>
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

function translateAcp(stream: AcpStream, entry: JsonObject): AgentEvent[] {
  const message = toJsonObject(entry['m'])
  if (typeof entry['bridge'] === 'string') return onBridge(stream, entry)
  if (entry['dir'] === '->') return onAcpRequest(stream, message)
  if (entry['dir'] !== '<-') return []
  if (message['method'] === 'session/update')
    return onUpdate(stream, toJsonObject(toJsonObject(message['params'])['update']))
  if (message['method'] === 'session/request_permission') return onPermission(stream, toJsonObject(message['params']))
  return 'method' in message ? [] : onAcpAnswer(stream, message)
}

function onAcpRequest(stream: AcpStream, message: JsonObject): AgentEvent[] {
  const method = asText(message['method'])
  if (method === undefined || message['id'] === undefined) return []
  stream.pendingRequests.set(message['id'], method)
  if (method === 'session/prompt') stream.prompted = true
  if (method !== 'session/load' && method !== 'session/resume') return []
  stream.resumed = true
  return onAcpSession(stream, asText(toJsonObject(message['params'])['sessionId']))
}

function onAcpSession(stream: AcpStream, id: string | undefined): AgentEvent[] {
  if (id === undefined || id === stream.sessionId) return []
  stream.sessionId = id
  return [{ kind: 'session', id }]
}

function onAcpAnswer(stream: AcpStream, message: JsonObject): AgentEvent[] {
  const method = stream.pendingRequests.get(message['id'])
  stream.pendingRequests.delete(message['id'])
  const error = message['error']
  if (isJsonObject(error))
    return method === undefined || isOptionalMethod(method) ? [] : endAcpTurn(stream, toAcpFailure(stream, error))
  const result = toJsonObject(message['result'])
  if (method === 'initialize') stream.canResume = supportsResume(toJsonObject(result['agentCapabilities']))
  if (method === 'session/new') return onAcpSession(stream, asText(result['sessionId']))
  if (method !== 'session/prompt') return []
  const usage = readAcpUsage(result)
  if (usage) stream.usage = usage
  return [
    ...(usage ? [{ kind: 'usage' as const, usage }] : []),
    ...endAcpTurn(stream, readStopReason(stream, asText(result['stopReason']))),
  ]
}

const supportsResume = (capabilities: JsonObject): boolean =>
  capabilities['loadSession'] === true || isJsonObject(toJsonObject(capabilities['sessionCapabilities'])['resume'])

/** The bridge continues without them, or reports the failure itself. */
const isOptionalMethod = (method: string): boolean =>
  method === 'session/close' || method === 'session/set_config_option'

function toAcpFailure(stream: AcpStream, error: JsonObject): Terminal {
  if (stream.sessionId !== undefined && !stream.prompted && stream.resumed) stream.sessionId = undefined
  return { ok: false, ...classifyAcpError(error) }
}

function endAcpTurn(stream: AcpStream, terminal: Terminal): AgentEvent[] {
  if (stream.question) return []
  stream.terminal = terminal
  return [{ kind: 'terminal', ok: terminal.ok, ...(!terminal.ok && { reason: terminal.reason }) }]
}

/** Some adapters end the turn successfully even though they could not reach the model. */
function readStopReason(stream: AcpStream, stopReason: string | undefined): Terminal {
  if (stopReason === 'cancelled') return { ok: false, class: 'aborted', reason: 'the turn was cancelled' }
  const failure = stopReasons[stopReason ?? '']
  if (failure) return { ok: false, ...failure }
  if (stopReason !== 'end_turn') {
    return { ok: false, class: 'protocol', reason: `it ended with the unknown reason ${stopReason ?? '(none)'}` }
  }
  return stream.trouble ? { ok: false, ...stream.trouble } : { ok: true }
}

const stopReasons: Readonly<Record<string, AcpFailure>> = {
  max_tokens: { class: 'context', reason: 'the answer was cut off at the token limit' },
  max_turn_requests: { class: 'max_turns', reason: 'the limit of model requests in one turn was reached' },
  refusal: { class: 'unknown', reason: 'the agent refused to continue', retryable: false },
}

function onUpdate(stream: AcpStream, update: JsonObject): AgentEvent[] {
  if (update['sessionUpdate'] === 'usage_update') return onCost(stream, toJsonObject(update['cost']))
  if (!stream.prompted) return []
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return onAcpText(stream, update)
    case 'tool_call':
    case 'tool_call_update':
      return onAcpTool(stream, update)
    case 'session_info_update':
      return onCodexAcpError(stream, toJsonObject(toJsonObject(update['_meta'])['codex']))
    default:
      return []
  }
}

/** The final message is the text after the last tool call; without an id, chunks belong to one message. */
function onAcpText(stream: AcpStream, update: JsonObject): AgentEvent[] {
  const text = asText(toJsonObject(update['content'])['text'])
  if (text === undefined) return []
  const messageId = asText(update['messageId'])
  stream.text = stream.inMessage && messageId === stream.messageId ? stream.text + text : text
  stream.messageId = messageId
  stream.inMessage = true
  return [{ kind: 'text', text }]
}

/** Agents announce a call before they know its input, so emit its start with the first update that carries the input. */
function onAcpTool(stream: AcpStream, update: JsonObject): AgentEvent[] {
  const id = asText(update['toolCallId'])
  if (id === undefined) return []
  stream.inMessage = false
  const ended = update['status'] === 'completed' || update['status'] === 'failed'
  const known = ended || update['status'] === 'in_progress' || Object.keys(toJsonObject(update['rawInput'])).length > 0
  const name = asText(update['name']) ?? asText(update['kind'])
  if (!known && name !== undefined) stream.announced.set(id, name)
  const start = known && !stream.tools.has(id) ? [startAcpTool(stream, id, update)] : []
  if (!ended) return start
  const ok = update['status'] === 'completed'
  if (ok) stream.toolsDone++
  return [...start, stream.tools.end({ id, ok, output: readAcpOutput(update) })]
}

function startAcpTool(stream: AcpStream, id: string, call: JsonObject): AgentEvent {
  const title = asText(call['title'])
  const name = stream.announced.get(id) ?? asText(call['name']) ?? asText(call['kind']) ?? title
  stream.announced.delete(id)
  const input = isJsonObject(call['rawInput']) ? call['rawInput'] : title === undefined ? undefined : { command: title }
  return stream.tools.start({ id, name, input })
}

function readAcpOutput(update: JsonObject): string | undefined {
  const raw = update['rawOutput']
  const texts = toJsonList(update['content']).flatMap(
    (part) => asText(toJsonObject(toJsonObject(part)['content'])['text']) ?? [],
  )
  const terminal = asText(toJsonObject(toJsonObject(update['_meta'])['terminal_output_delta'])['data'])
  return asText(raw) ?? asText(toJsonObject(raw)['output']) ?? (texts.length > 0 ? texts.join('\n') : terminal)
}

/** Some agents ask for permission before they announce the tool call. */
function onPermission(stream: AcpStream, params: JsonObject): AgentEvent[] {
  const call = toJsonObject(params['toolCall'])
  const id = asText(call['toolCallId'])
  return id === undefined || stream.tools.has(id) ? [] : [startAcpTool(stream, id, call)]
}

/** The amount counts from the start of the session; for a resumed session, subtract what it cost before, if known. */
function onCost(stream: AcpStream, cost: JsonObject): AgentEvent[] {
  const amount = asNumber(cost['amount'])
  if (amount === undefined || cost['currency'] !== 'USD') return []
  if (!stream.prompted) stream.costBefore = amount
  else if (stream.resumed && stream.costBefore === undefined) stream.costUsd = undefined
  else stream.costUsd = Math.max(0, amount - (stream.costBefore ?? 0))
  return []
}

/** codex-acp reports model failures only here, and then ends the turn as if it had succeeded. */
function onCodexAcpError(stream: AcpStream, codex: JsonObject): AgentEvent[] {
  const error = codex['error']
  if (!isJsonObject(error)) {
    if (toJsonObject(codex['threadStatus'])['type'] === 'idle') stream.trouble = undefined
    return []
  }
  const reason = asText(error['additionalDetails']) ?? asText(error['message']) ?? 'the model could not be reached'
  const { class: failure } = classifyAcpError({ message: reason })
  stream.trouble = { class: failure, reason }
  if (error['willRetry'] !== true) return []
  const status = parseStatus(reason)
  return [{ kind: 'retry', ...(status !== undefined && { status }), reason }]
}

/** Token counts are not part of the stable protocol; an attempt without them has no price. */
function readAcpUsage(result: JsonObject): Usage | undefined {
  const usage = result['usage']
  if (isJsonObject(usage)) {
    return {
      inputTokens: asCount(usage['inputTokens']),
      outputTokens: asCount(usage['outputTokens']) + asCount(usage['thoughtTokens']),
      cacheReadTokens: asCount(usage['cachedReadTokens']),
      cacheWriteTokens: asCount(usage['cachedWriteTokens']),
    }
  }
  const counts = toJsonObject(toJsonObject(result['_meta'])['quota'])['token_count']
  if (!isJsonObject(counts)) return undefined
  return {
    inputTokens: asCount(counts['input_tokens']),
    outputTokens: asCount(counts['output_tokens']),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  }
}

/** Failures of the bridge itself. If the agent dies, the missing answer shows it. */
function onBridge(stream: AcpStream, entry: JsonObject): AgentEvent[] {
  const reason = asText(entry['reason']) ?? 'the connection failed'
  switch (entry['bridge']) {
    case 'not-found':
      return endAcpTurn(stream, { ok: false, class: 'not_found', reason })
    case 'refused':
      return endAcpTurn(stream, { ok: false, class: 'unknown', reason, retryable: false })
    case 'question':
      return onQuestion(stream, reason, entry)
    default:
      return []
  }
}

/** The question ends the turn: ignore what the agent says after it was cancelled. */
function onQuestion(stream: AcpStream, reason: string, entry: JsonObject): AgentEvent[] {
  const options = toJsonList(entry['options']).flatMap((option) => asText(option) ?? [])
  const events = endAcpTurn(stream, { ok: false, class: 'tool_denied', reason })
  stream.question = { reason, details: asText(entry['details']) ?? '', ...(options.length > 0 && { options }) }
  return events
}
