import type { AgentEvent } from '../../contract/events.ts'
import type { FailureClass, Outcome } from '../../contract/outcome.ts'
import { classifyStatus, toOutcome } from '../readers/outcome.ts'
import type { Driver } from './driver.ts'
import type { Exit } from '../readers/outcome.ts'
import type { Reader } from '../readers/reader.ts'
import { classifyMessage } from '../readers/error-messages.ts'
import { asText, asCount, type JsonObject, toJsonObject, parseObject } from '../readers/json.ts'
import { createJsonReader } from '../readers/reader.ts'
import { createReaderState, type ReaderState } from '../readers/reader-state.ts'
import { type ToolTracker, createToolTracker } from '../readers/tools.ts'

/** Below the folder of its state: what it reads as instructions or runs as a program, such as its own ripgrep in `tmp/bin`. */
const executedFiles =
  'settings.json trustedFolders.json trusted_hooks.json GEMINI.md .env agents commands extensions policies skills tmp/bin'.split(
    ' ',
  )

/** Without it, a wrapper process swallows SIGINT and SIGTERM. */
export const geminiSettings = { GEMINI_CLI_NO_RELAUNCH: 'true' }

/** Gemini CLI in headless mode, which it selects itself when stdin is a file. */
export const gemini: Driver = {
  name: 'gemini',
  program: 'gemini',
  models: ['gemini-*', 'auto', 'pro', 'flash', 'flash-lite'],
  env: ['GEMINI_API_KEY', 'GEMINI_MODEL', 'GEMINI_CLI_HOME', 'GOOGLE_*', 'CLOUDSDK_*', 'GCLOUD_PROJECT'],
  state: ({ GEMINI_CLI_HOME: own }) => [own ? `${own}/.gemini` : '.gemini'],
  settings: ({ GEMINI_CLI_HOME: own }) =>
    executedFiles.map((name) => (own ? `${own}/.gemini/${name}` : `.gemini/${name}`)),
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

type GeminiStream = ReaderState & { readonly tools: ToolTracker; inMessage: boolean }

function readGemini(): Reader {
  const stream: GeminiStream = { ...createReaderState(), tools: createToolTracker(), inMessage: false }
  const reader = createJsonReader(stream, { translate: translateGemini, judge: concludeGemini })
  const document = createDocumentBuffer()
  return {
    parse: (line) => {
      const events = reader.parse(line)
      if (!stream.understoodAny) document.add(line)
      return events
    },
    finish: (exit) => {
      if (!stream.understoodAny) onDocument(stream, document.read())
      return reader.finish(exit)
    },
  }
}

function translateGemini(stream: GeminiStream, entry: JsonObject): AgentEvent[] {
  switch (entry['type']) {
    case 'init':
      return onInit(stream, entry)
    case 'message':
      return onGeminiMessage(stream, entry)
    case 'tool_use':
      return onToolUse(stream, entry)
    case 'tool_result':
      return onToolResult(stream, entry)
    case 'result':
      return onGeminiResult(stream, entry)
    default:
      return []
  }
}

function onInit(stream: GeminiStream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['session_id'])
  if (id === undefined) return []
  stream.sessionId = id
  const model = asText(entry['model'])
  return [{ kind: 'session', id, ...(model !== undefined && { model }) }]
}

/** The final message is the text after the last tool call. */
function onGeminiMessage(stream: GeminiStream, entry: JsonObject): AgentEvent[] {
  const text = asText(entry['content'])
  if (entry['role'] !== 'assistant' || text === undefined) return []
  stream.text = stream.inMessage && entry['delta'] === true ? stream.text + text : text
  stream.inMessage = true
  return [{ kind: 'text', text }]
}

function onToolUse(stream: GeminiStream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['tool_id'])
  if (id === undefined) return []
  stream.inMessage = false
  return [stream.tools.start({ id, name: asText(entry['tool_name']), input: entry['parameters'] })]
}

function onToolResult(stream: GeminiStream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['tool_id'])
  if (id === undefined) return []
  stream.inMessage = false
  return [stream.tools.end({ id, ok: entry['status'] === 'success', output: asText(entry['output']) })]
}

function onGeminiResult(stream: GeminiStream, entry: JsonObject): AgentEvent[] {
  const stats = toJsonObject(entry['stats'])
  const cached = asCount(stats['cached'])
  stream.usage = {
    inputTokens: Math.max(0, asCount(stats['input_tokens']) - cached),
    outputTokens: asCount(stats['output_tokens']),
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  }
  const ended = endGeminiTurn(stream, entry['status'] === 'success', toJsonObject(entry['error']))
  return [{ kind: 'usage', usage: stream.usage }, ...ended]
}

function endGeminiTurn(stream: GeminiStream, ok: boolean, error: JsonObject): AgentEvent[] {
  if (ok) {
    stream.terminal = { ok }
    return [{ kind: 'terminal', ok }]
  }
  const reason = asText(error['message']) ?? 'the turn failed'
  const failure = classifyMessage(reason)
  stream.terminal = { ok, class: failure, reason }
  const limit: AgentEvent[] = failure === 'usage_limit' ? [{ kind: 'limit', reason }] : []
  return [...limit, { kind: 'terminal', ok, reason }]
}

/** The exit code is the HTTP status of the failed call modulo 256, often the only sign of the cause. */
function concludeGemini(stream: GeminiStream, exit: Exit): Outcome {
  const { terminal } = stream
  const byCode = exit.code === null ? undefined : classifyExitCode(exit.code)
  if (byCode && !terminal) stream.trouble = { class: byCode, reason: 'the exit code gives the cause' }
  if (byCode && terminal && !terminal.ok && isVague(terminal.class)) stream.terminal = { ...terminal, class: byCode }
  return toOutcome(stream, exit)
}

const isVague = (failure: string): boolean => failure === 'unknown' || failure === 'auth'

function classifyExitCode(code: number): FailureClass | undefined {
  const own = ownExitCodes[code]
  if (own) return own
  const status = failedStatuses.find((known) => known % 256 === code)
  return status === undefined ? undefined : classifyStatus(status)
}

const ownExitCodes: Readonly<Record<number, FailureClass>> = { 41: 'auth', 53: 'max_turns', 55: 'tool_denied' }
const failedStatuses = [401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529]

/** The answer of `--output-format json`: one document over many lines, for transcripts that users bring. */
function createDocumentBuffer() {
  const lines: string[] = []
  const maxLines = 10_000
  return {
    add: (line: string) => void (lines.length < maxLines && lines.push(line)),
    read: () => parseObject(lines.join('\n')),
  }
}

function onDocument(stream: GeminiStream, document: JsonObject | undefined): void {
  const text = asText(document?.['response'])
  if (!document || (text === undefined && !document['error'])) return
  stream.sessionId = asText(document['session_id'])
  stream.text = text ?? ''
  endGeminiTurn(stream, !document['error'], toJsonObject(document['error']))
}
