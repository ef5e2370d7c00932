import type { AgentEvent } from '../../contract/events.ts'
import { classOfStatus } from './outcome.ts'
import type { Driver } from './driver.ts'
import { classOfMessage } from './error-messages.ts'
import { asNumber, asText, countOf, type JsonObject, objectOf } from './json.ts'
import { jsonLines } from './reader.ts'
import { nothingSeen, type Seen, type Trouble } from './seen.ts'
import { type OpenTools, openTools } from './tools.ts'
import { addUsage } from './usage.ts'

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
  state: ({ XDG_DATA_HOME = '.local/share', XDG_STATE_HOME = '.local/state', XDG_CONFIG_HOME = '.config' }) =>
    [XDG_DATA_HOME, XDG_STATE_HOME, XDG_CONFIG_HOME].map((folder) => `${folder}/opencode`),
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
  read: () => jsonLines<Stream>({ ...nothingSeen(), tools: openTools() }, { translate }),
}

type Stream = Seen & { readonly tools: OpenTools }

function translate(seen: Stream, entry: JsonObject): AgentEvent[] {
  const session = onSession(seen, entry)
  return [...session, ...onEntry(seen, entry)]
}

/** Every line names the session. */
function onSession(seen: Stream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['sessionID'])
  if (id === undefined || id === seen.sessionId) return []
  seen.sessionId = id
  return [{ kind: 'session', id }]
}

function onEntry(seen: Stream, entry: JsonObject): AgentEvent[] {
  const part = objectOf(entry['part'])
  switch (entry['type']) {
    case 'step_start':
      // A compaction ends with "stop" too, and then the work continues.
      seen.terminal = undefined
      return []
    case 'text':
      return onText(seen, part)
    case 'tool_use':
      return onTool(seen, part)
    case 'step_finish':
      return onStepFinish(seen, part)
    case 'error':
      return onError(seen, objectOf(entry['error']))
    default:
      return []
  }
}

function onText(seen: Stream, part: JsonObject): AgentEvent[] {
  const text = asText(part['text'])
  if (text === undefined) return []
  seen.text = text
  return [{ kind: 'text', text }]
}

/** OpenCode reports a tool when it has ended, so emit start and end together. */
function onTool(seen: Stream, part: JsonObject): AgentEvent[] {
  const id = asText(part['callID'])
  if (id === undefined) return []
  const state = objectOf(part['state'])
  const error = asText(state['error'])
  seen.trouble = error?.startsWith('The user rejected permission') ? rejected : undefined
  return [
    seen.tools.start({ id, name: asText(part['tool']), input: state['input'] }),
    seen.tools.end({ id, ok: state['status'] === 'completed', output: asText(state['output']) ?? error }),
  ]
}

/** When OpenCode needs a permission in headless mode, it ends without an answer and with exit code 0. */
const rejected: Trouble = { class: 'tool_denied', reason: 'the agent asked for a permission and was denied' }

/**
 * OpenCode prints no event for the end of a turn: the turn ends with the last step whose reason is "stop". Remember it until
 * the process exits; a terminal event here could precede a compaction.
 */
function onStepFinish(seen: Stream, part: JsonObject): AgentEvent[] {
  const tokens = objectOf(part['tokens'])
  const cache = objectOf(tokens['cache'])
  seen.usage = addUsage(seen.usage, {
    inputTokens: countOf(tokens['input']),
    outputTokens: countOf(tokens['output']) + countOf(tokens['reasoning']),
    cacheReadTokens: countOf(cache['read']),
    cacheWriteTokens: countOf(cache['write']),
  })
  const cost = countOf(part['cost'])
  if (cost > 0) seen.costUsd = (seen.costUsd ?? 0) + cost
  const reason = asText(part['reason'])
  if (reason === 'stop') seen.terminal = { ok: true }
  if (reason === 'unknown')
    seen.trouble = { class: 'protocol', reason: 'the model answered nothing that it understood' }
  return [{ kind: 'usage', usage: seen.usage }]
}

function onError(seen: Stream, error: JsonObject): AgentEvent[] {
  const data = objectOf(error['data'])
  const reason = asText(data['message']) ?? asText(error['name']) ?? 'the turn failed'
  const status = asNumber(data['statusCode'])
  const failure =
    classOfName[asText(error['name']) ?? ''] ?? (status === undefined ? classOfMessage(reason) : classOfStatus(status))
  seen.terminal = { ok: false, class: failure, reason }
  return [{ kind: 'terminal', ok: false, reason }]
}

const classOfName: Readonly<Record<string, 'context' | 'auth'>> = {
  ContextOverflowError: 'context',
  ProviderAuthError: 'auth',
}
