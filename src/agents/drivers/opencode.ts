import type { AgentEvent } from '../../contract/events.ts'
import { classifyStatus } from '../readers/outcome.ts'
import type { Driver } from './driver.ts'
import { classifyMessage } from '../readers/error-messages.ts'
import { asNumber, asText, asCount, type JsonObject, toJsonObject } from '../readers/json.ts'
import { createJsonReader } from '../readers/reader.ts'
import { createReaderState, type ReaderState, type AgentProblem } from '../readers/reader-state.ts'
import { type ToolTracker, createToolTracker } from '../readers/tools.ts'
import { addTokenUsage } from '../readers/usage.ts'

export const opencodeSettings = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_SHARE: '1',
}

/** OpenCode in headless mode. */
export const opencode: Driver = {
  name: 'opencode',
  program: 'opencode',
  env: [
    'OPENCODE_CONFIG*',
    'OPENCODE_API_KEY',
    'OPENCODE_MODELS_*',
    'ANTHROPIC_*',
    'OPENAI_*',
    'GEMINI_*',
    'GOOGLE_*',
    'OPENROUTER_API_KEY',
    'AWS_*',
  ],
  state: ({ XDG_DATA_HOME = '.local/share', XDG_STATE_HOME = '.local/state' }) =>
    [XDG_DATA_HOME, XDG_STATE_HOME].map((folder) => `${folder}/opencode`),
  // Its plugins are programs, and it runs those in `bin`.
  settings: ({ XDG_CONFIG_HOME = '.config', XDG_DATA_HOME = '.local/share' }) => [
    `${XDG_CONFIG_HOME}/opencode`,
    `${XDG_DATA_HOME}/opencode/bin`,
  ],
  command: ({ model, resume }) => ({
    file: 'opencode',
    args: [
      'run',
      '--format',
      'json',
      '--auto',
      ...(model ? ['--model', model] : []),
      ...(resume ? ['--session', resume] : []),
    ],
    env: opencodeSettings,
  }),
  about: {
    tested: ['1.18.0', '1.19.0'],
    login: {
      variables: ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY'],
      files: ['.local/share/opencode/auth.json'],
    },
  },
  read: () =>
    createJsonReader<OpencodeStream>(
      { ...createReaderState(), tools: createToolTracker() },
      { translate: translateOpencode },
    ),
}

type OpencodeStream = ReaderState & { readonly tools: ToolTracker }

function translateOpencode(stream: OpencodeStream, entry: JsonObject): AgentEvent[] {
  const session = onOpencodeSession(stream, entry)
  return [...session, ...onEntry(stream, entry)]
}

/** Every line names the session. */
function onOpencodeSession(stream: OpencodeStream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['sessionID'])
  if (id === undefined || id === stream.sessionId) return []
  stream.sessionId = id
  return [{ kind: 'session', id }]
}

function onEntry(stream: OpencodeStream, entry: JsonObject): AgentEvent[] {
  const part = toJsonObject(entry['part'])
  switch (entry['type']) {
    case 'step_start':
      // A compaction ends with "stop" too, and then the work continues.
      stream.terminal = undefined
      return []
    case 'text':
      return onOpencodeText(stream, part)
    case 'tool_use':
      return onOpencodeTool(stream, part)
    case 'step_finish':
      return onStepFinish(stream, part)
    case 'error':
      return onOpencodeError(stream, toJsonObject(entry['error']))
    default:
      return []
  }
}

function onOpencodeText(stream: OpencodeStream, part: JsonObject): AgentEvent[] {
  const text = asText(part['text'])
  if (text === undefined) return []
  stream.text = text
  return [{ kind: 'text', text }]
}

/** OpenCode reports a tool when it has ended, so emit start and end together. */
function onOpencodeTool(stream: OpencodeStream, part: JsonObject): AgentEvent[] {
  const id = asText(part['callID'])
  if (id === undefined) return []
  const state = toJsonObject(part['state'])
  const error = asText(state['error'])
  stream.trouble = error?.startsWith('The user rejected permission') ? permissionRejected : undefined
  return [
    stream.tools.start({ id, name: asText(part['tool']), input: state['input'] }),
    stream.tools.end({ id, ok: state['status'] === 'completed', output: asText(state['output']) ?? error }),
  ]
}

/** When OpenCode needs a permission in headless mode, it ends without an answer and with exit code 0. */
const permissionRejected: AgentProblem = {
  class: 'tool_denied',
  reason: 'the agent asked for a permission and was denied',
}

/**
 * OpenCode prints no event for the end of a turn: the turn ends with the last step whose reason is "stop". Remember it until
 * the process exits; a terminal event here could precede a compaction.
 */
function onStepFinish(stream: OpencodeStream, part: JsonObject): AgentEvent[] {
  const tokens = toJsonObject(part['tokens'])
  const cache = toJsonObject(tokens['cache'])
  stream.usage = addTokenUsage(stream.usage, {
    inputTokens: asCount(tokens['input']),
    outputTokens: asCount(tokens['output']) + asCount(tokens['reasoning']),
    cacheReadTokens: asCount(cache['read']),
    cacheWriteTokens: asCount(cache['write']),
  })
  const cost = asCount(part['cost'])
  if (cost > 0) stream.costUsd = (stream.costUsd ?? 0) + cost
  const reason = asText(part['reason'])
  if (reason === 'stop') stream.terminal = { ok: true }
  if (reason === 'unknown')
    stream.trouble = { class: 'protocol', reason: 'the model answered nothing that it understood' }
  return [{ kind: 'usage', usage: stream.usage }]
}

function onOpencodeError(stream: OpencodeStream, error: JsonObject): AgentEvent[] {
  const data = toJsonObject(error['data'])
  const reason = asText(data['message']) ?? asText(error['name']) ?? 'the turn failed'
  const status = asNumber(data['statusCode'])
  const failure =
    classByErrorName[asText(error['name']) ?? ''] ??
    (status === undefined ? classifyMessage(reason) : classifyStatus(status))
  stream.terminal = { ok: false, class: failure, reason }
  return [{ kind: 'terminal', ok: false, reason }]
}

const classByErrorName: Readonly<Record<string, 'context' | 'auth'>> = {
  ContextOverflowError: 'context',
  ProviderAuthError: 'auth',
}
