import type { AgentEvent } from '../../contract/events.ts'
import type { FailureClass, Outcome } from '../../contract/outcome.ts'
import { classOfStatus, conclude } from './outcome.ts'
import type { Driver, Exit, Reader } from './driver.ts'
import { classOfMessage } from './error-messages.ts'
import { asText, countOf, type JsonObject, objectOf, parseObject } from './json.ts'
import { jsonLines } from './reader.ts'
import { nothingSeen, type Seen } from './seen.ts'
import { type OpenTools, openTools } from './tools.ts'

/** Without it, a wrapper process swallows SIGINT and SIGTERM. */
export const geminiSettings = { GEMINI_CLI_NO_RELAUNCH: 'true' }

/** Gemini CLI in headless mode, which it selects itself when stdin is a file. */
export const gemini: Driver = {
  name: 'gemini',
  program: 'gemini',
  models: ['gemini-*', 'auto', 'pro', 'flash', 'flash-lite'],
  env: ['GEMINI_API_KEY', 'GEMINI_MODEL', 'GEMINI_CLI_HOME', 'GOOGLE_*', 'CLOUDSDK_*', 'GCLOUD_PROJECT'],
  state: ({ GEMINI_CLI_HOME: own }) => [own ? `${own}/.gemini` : '.gemini'],
  command: ({ model, resume }) => ({
    file: 'gemini',
    args: [
      '--output-format',
      'stream-json',
      '--approval-mode',
      'yolo',
      '--skip-trust',
      ...(model ? ['--model', model] : []),
      ...(resume ? ['--resume', resume] : []),
    ],
    env: geminiSettings,
  }),
  about: {
    tested: ['0.61.0', '0.62.0'],
    login: { variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'], files: ['.gemini/oauth_creds.json'] },
  },
  textInPieces: true,
  read: readGemini,
}

type Stream = Seen & { readonly tools: OpenTools; inMessage: boolean }

function readGemini(): Reader {
  const seen: Stream = { ...nothingSeen(), tools: openTools(), inMessage: false }
  const reader = jsonLines(seen, { translate, judge })
  const document = wholeDocument()
  return {
    parse: (line) => {
      const events = reader.parse(line)
      if (!seen.spoke) document.add(line)
      return events
    },
    finish: (exit) => {
      if (!seen.spoke) onDocument(seen, document.read())
      return reader.finish(exit)
    },
  }
}

function translate(seen: Stream, entry: JsonObject): AgentEvent[] {
  switch (entry['type']) {
    case 'init':
      return onInit(seen, entry)
    case 'message':
      return onMessage(seen, entry)
    case 'tool_use':
      return onToolUse(seen, entry)
    case 'tool_result':
      return onToolResult(seen, entry)
    case 'result':
      return onResult(seen, entry)
    default:
      return []
  }
}

function onInit(seen: Stream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['session_id'])
  if (id === undefined) return []
  seen.sessionId = id
  const model = asText(entry['model'])
  return [{ kind: 'session', id, ...(model !== undefined && { model }) }]
}

/** The final message is the text after the last tool call. */
function onMessage(seen: Stream, entry: JsonObject): AgentEvent[] {
  const text = asText(entry['content'])
  if (entry['role'] !== 'assistant' || text === undefined) return []
  seen.text = seen.inMessage && entry['delta'] === true ? seen.text + text : text
  seen.inMessage = true
  return [{ kind: 'text', text }]
}

function onToolUse(seen: Stream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['tool_id'])
  if (id === undefined) return []
  seen.inMessage = false
  return [seen.tools.start({ id, name: asText(entry['tool_name']), input: entry['parameters'] })]
}

function onToolResult(seen: Stream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['tool_id'])
  if (id === undefined) return []
  seen.inMessage = false
  return [seen.tools.end({ id, ok: entry['status'] === 'success', output: asText(entry['output']) })]
}

function onResult(seen: Stream, entry: JsonObject): AgentEvent[] {
  const stats = objectOf(entry['stats'])
  const cached = countOf(stats['cached'])
  seen.usage = {
    inputTokens: Math.max(0, countOf(stats['input_tokens']) - cached),
    outputTokens: countOf(stats['output_tokens']),
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  }
  const ended = onEnd(seen, entry['status'] === 'success', objectOf(entry['error']))
  return [{ kind: 'usage', usage: seen.usage }, ...ended]
}

function onEnd(seen: Stream, ok: boolean, error: JsonObject): AgentEvent[] {
  if (ok) {
    seen.terminal = { ok }
    return [{ kind: 'terminal', ok }]
  }
  const reason = asText(error['message']) ?? 'the turn failed'
  const failure = classOfMessage(reason)
  seen.terminal = { ok, class: failure, reason }
  const limit: AgentEvent[] = failure === 'usage_limit' ? [{ kind: 'limit', reason }] : []
  return [...limit, { kind: 'terminal', ok, reason }]
}

/** The exit code is the HTTP status of the failed call modulo 256, often the only sign of the cause. */
function judge(seen: Stream, exit: Exit): Outcome {
  const { terminal } = seen
  const byCode = exit.code === null ? undefined : classOfExit(exit.code)
  if (byCode && !terminal) seen.trouble = { class: byCode, reason: 'the exit code gives the cause' }
  if (byCode && terminal && !terminal.ok && isVague(terminal.class)) seen.terminal = { ...terminal, class: byCode }
  return conclude(seen, exit)
}

const isVague = (failure: string): boolean => failure === 'unknown' || failure === 'auth'

function classOfExit(code: number): FailureClass | undefined {
  const own = ownExitCodes[code]
  if (own) return own
  const status = failedStatuses.find((known) => known % 256 === code)
  return status === undefined ? undefined : classOfStatus(status)
}

const ownExitCodes: Readonly<Record<number, FailureClass>> = { 41: 'auth', 53: 'max_turns', 55: 'tool_denied' }
const failedStatuses = [401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529]

/** The answer of `--output-format json`: one document over many lines, for transcripts that users bring. */
function wholeDocument() {
  const lines: string[] = []
  const mostLines = 10_000
  return {
    add: (line: string) => void (lines.length < mostLines && lines.push(line)),
    read: () => parseObject(lines.join('\n')),
  }
}

function onDocument(seen: Stream, document: JsonObject | undefined): void {
  const text = asText(document?.['response'])
  if (!document || (text === undefined && !document['error'])) return
  seen.sessionId = asText(document['session_id'])
  seen.text = text ?? ''
  onEnd(seen, !document['error'], objectOf(document['error']))
}
