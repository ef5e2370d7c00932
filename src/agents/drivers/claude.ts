import type { AgentEvent } from '../../contract/events.ts'
import { noUsage, type Usage } from '../../contract/outcome.ts'
import { resetOf, terminalOf, troubleOfRetry } from './claude-failures.ts'
import type { Driver, Reader } from './driver.ts'
import { asNumber, asText, countOf, isObject, type JsonObject, listOf, objectOf, parseObject } from './json.ts'
import { jsonLines } from './reader.ts'
import { isSaidToBeSandbox } from './sandbox-message.ts'
import { nothingSeen, type Seen } from './seen.ts'
import { type OpenTools, openTools } from './tools.ts'
import { addUsage, sumUsage } from './usage.ts'

export const claudeSettings = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  // Left alone it retries for three minutes; the loop waits where it can be seen and survives a restart.
  CLAUDE_CODE_MAX_RETRIES: '2',
  // With a background task it lingers up to ten minutes after its result, then makes another model call.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // A refused start is then told as a result, not on stderr alone.
  CLAUDE_CODE_STARTUP_FAILURE_RESULTS: '1',
}

/** Claude Code in headless mode. */
export const claude: Driver = {
  name: 'claude',
  program: 'claude',
  models: [
    'opus',
    'sonnet',
    'haiku',
    'opusplan',
    'default',
    'best',
    'opus[1m]',
    'sonnet[1m]',
    'claude-*',
    'anthropic.*',
    'us.anthropic.*',
    'eu.anthropic.*',
    'global.anthropic.*',
    'arn:aws:*',
  ],
  slashCommands: true,
  env: [
    'ANTHROPIC_*',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_*',
    'CLAUDE_CODE_SKIP_*',
    'CLAUDE_CODE_CLIENT_*',
    'CLAUDE_CODE_EFFORT_LEVEL',
    'CLAUDE_CODE_SUBAGENT_MODEL',
    'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
    'MAX_THINKING_TOKENS',
    'API_TIMEOUT_MS',
    'BASH_DEFAULT_TIMEOUT_MS',
    'BASH_MAX_TIMEOUT_MS',
    'IS_SANDBOX',
    'AWS_*',
    'CLOUD_ML_REGION',
    'VERTEX_REGION_*',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GOOGLE_CLOUD_PROJECT',
    'GCLOUD_PROJECT',
  ],
  state: ({ CLAUDE_CONFIG_DIR: own }) => (own ? [own] : ['.claude', '.claude.json']),
  settings: ({ CLAUDE_CONFIG_DIR: own = '.claude' }) =>
    ['settings.json', 'settings.local.json', 'agents', 'commands', 'skills'].map((name) => `${own}/${name}`),
  command: ({ model, resume, form, sandboxed }) => ({
    file: 'claude',
    args: [
      '-p',
      '--output-format',
      'stream-json',
      '--verbose',
      '--dangerously-skip-permissions',
      ...(model ? ['--model', model] : []),
      ...(resume ? ['--resume', resume] : []),
      ...(form ? ['--json-schema', JSON.stringify(form)] : []),
    ],
    env: sandboxed ? { ...claudeSettings, IS_SANDBOX: '1' } : claudeSettings,
  }),
  about: {
    tested: ['2.1.0', '2.2.0'],
    tellsVersion: true,
    login: {
      variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
      ask: ['auth', 'status'],
    },
  },
  warn: ({ isRoot, sandboxed, env }) =>
    isRoot && !sandboxed && !isSaidToBeSandbox(env)
      ? 'Claude Code refuses to work unattended as root: use another user or a sandbox, or set IS_SANDBOX=1 if this machine is one'
      : undefined,
  read: readClaude,
}

/** Also the reader of every other program that speaks `stream-json`. */
export function readClaude(): Reader {
  return jsonLines(newStream(), { translate, glance })
}

const toolResult = '{"type":"user","message":'

/**
 * The result of a tool comes twice, and the second time is most of a transcript: only the message is parsed. It is parsed where
 * it stands, since a text that is put together would be copied first. A cut that is none fails to parse.
 */
function glance(line: string): JsonObject | undefined {
  if (!line.startsWith(toolResult)) return undefined
  const end = line.indexOf(',"parent_tool_use_id":')
  const message = end === -1 ? undefined : parseObject(line.slice(toolResult.length, end))
  return message && { type: 'user', message }
}

type Stream = Seen & {
  readonly tools: OpenTools
  readonly settled: { usage: Usage; totalCostUsd: number }
  messageId: string | undefined
  messageError: string | undefined
  toolsDone: number
}

const newStream = (): Stream => ({
  ...nothingSeen(),
  tools: openTools(),
  settled: { usage: noUsage, totalCostUsd: 0 },
  messageId: undefined,
  messageError: undefined,
  toolsDone: 0,
})

function translate(seen: Stream, entry: JsonObject): AgentEvent[] {
  switch (entry['type']) {
    case 'assistant':
      return onAssistant(seen, entry)
    case 'user':
      return onToolResults(seen, entry)
    case 'system':
      return onSystem(seen, entry)
    case 'rate_limit_event':
      return onRateLimit(seen, objectOf(entry['rate_limit_info']))
    case 'result':
      return onResult(seen, entry)
    default:
      return []
  }
}

function onAssistant(seen: Stream, entry: JsonObject): AgentEvent[] {
  const message = objectOf(entry['message'])
  if (isMadeUp(entry)) {
    seen.messageError = asText(entry['error'])
    return []
  }
  seen.trouble = undefined
  if (typeof entry['parent_tool_use_id'] === 'string') return startedTools(seen, message)
  const texts = textsOf(message)
  const events = [...startMessage(seen, message), ...texts, ...startedTools(seen, message)]
  for (const { text } of texts) seen.text += text
  return events
}

/** A failed model call is shown as a message of the assistant that no model wrote. */
const isMadeUp = (entry: JsonObject): boolean =>
  entry['is_api_error_message'] === true || typeof entry['error'] === 'string'

/** A message arrives block by block under one id; its usage is the one at its start, a lower bound until the result. */
function startMessage(seen: Stream, message: JsonObject): AgentEvent[] {
  const id = asText(message['id'])
  if (id !== undefined && id === seen.messageId) return []
  seen.messageId = id
  seen.text = ''
  seen.usage = addUsage(seen.usage, usageOf(objectOf(message['usage'])))
  return [{ kind: 'usage', usage: seen.usage }]
}

function textsOf(message: JsonObject): Extract<AgentEvent, { kind: 'text' }>[] {
  return listOf(message['content']).flatMap((block) => {
    const text = isObject(block) && block['type'] === 'text' ? asText(block['text']) : undefined
    return text === undefined ? [] : [{ kind: 'text', text }]
  })
}

function startedTools(seen: Stream, message: JsonObject): AgentEvent[] {
  return listOf(message['content']).flatMap((block) => {
    const id = isObject(block) && block['type'] === 'tool_use' ? asText(block['id']) : undefined
    if (id === undefined || !isObject(block)) return []
    return [seen.tools.start({ id, name: asText(block['name']), input: block['input'] })]
  })
}

function onToolResults(seen: Stream, entry: JsonObject): AgentEvent[] {
  return listOf(objectOf(entry['message'])['content']).flatMap((block) => {
    const id = isObject(block) && block['type'] === 'tool_result' ? asText(block['tool_use_id']) : undefined
    if (id === undefined || !isObject(block)) return []
    const ok = block['is_error'] !== true
    if (ok) seen.toolsDone++
    return [seen.tools.end({ id, ok, output: outputOf(block['content']) })]
  })
}

function outputOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  const texts = listOf(content).flatMap((part) => asText(objectOf(part)['text']) ?? [])
  return texts.length > 0 ? texts.join('\n') : undefined
}

function onSystem(seen: Stream, entry: JsonObject): AgentEvent[] {
  switch (entry['subtype']) {
    case 'init':
      return onSession(seen, entry)
    case 'api_retry':
      return onRetry(seen, entry)
    case 'status':
      // Compaction is minutes of silence: told as a tool, so that the clocks are as patient as with one.
      return entry['status'] === 'compacting' ? [seen.tools.start({ id: 'compaction', name: 'compaction' })] : []
    case 'compact_boundary':
      return [seen.tools.end({ id: 'compaction', ok: true })]
    default:
      return []
  }
}

/** A second `init` follows when a background task wakes the session up again. */
function onSession(seen: Stream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['session_id'])
  if (id === undefined || id === seen.sessionId) return []
  seen.sessionId = id
  const model = asText(entry['model'])
  const version = asText(entry['claude_code_version'])
  return [{ kind: 'session', id, ...(model !== undefined && { model }), ...(version !== undefined && { version }) }]
}

function onRetry(seen: Stream, entry: JsonObject): AgentEvent[] {
  const attempt = asNumber(entry['attempt'])
  const status = asNumber(entry['error_status'])
  const delayMs = asNumber(entry['retry_delay_ms'])
  const reason = asText(entry['error'])
  seen.trouble = troubleOfRetry(status, reason)
  return [
    {
      kind: 'retry',
      ...(attempt !== undefined && { attempt }),
      ...(status !== undefined && { status }),
      ...(delayMs !== undefined && { delayMs }),
      ...(reason !== undefined && { reason }),
    },
  ]
}

function onRateLimit(seen: Stream, info: JsonObject): AgentEvent[] {
  if (info['status'] !== 'rejected' || info['isUsingOverage'] === true) return []
  const seconds = asNumber(info['resetsAt'])
  const resetsAt = seconds === undefined ? undefined : seconds * 1000
  const reason = asText(info['rateLimitType'])
  seen.resetsAt = resetsAt
  seen.trouble = { class: 'usage_limit', reason: `the usage limit (${reason ?? 'of the account'}) was reached` }
  return [{ kind: 'limit', ...(resetsAt !== undefined && { resetsAt }), ...(reason !== undefined && { reason }) }]
}

function onResult(seen: Stream, entry: JsonObject): AgentEvent[] {
  settle(seen, entry)
  const { messageError, toolsDone } = seen
  const terminal = terminalOf(entry, { messageError, toolsDone, limitReached: seen.trouble?.class === 'usage_limit' })
  seen.terminal = terminal
  // A session that could not be started or resumed is named too.
  if (terminal.ok) seen.sessionId ??= asText(entry['session_id'])
  seen.resetsAt = resetOf(entry) ?? seen.resetsAt
  seen.structured = entry['structured_output'] ?? undefined
  if (terminal.ok) seen.text = asText(entry['result']) ?? seen.text
  return [
    { kind: 'usage', usage: seen.usage },
    { kind: 'terminal', ok: terminal.ok, ...(!terminal.ok && { reason: terminal.reason }) },
  ]
}

/**
 * Totals of a result count from the start of the session, so a resumed one would be paid twice, and `usage` leaves out
 * subagents. What was spent since the last result is right in both cases; programs that do not tell it are older.
 */
function settle(seen: Stream, entry: JsonObject): void {
  const { settled } = seen
  const total = asNumber(entry['total_cost_usd'])
  const since = entry['model_usage_since_last_result']
  const models = isObject(since) ? Object.values(since).map(objectOf) : undefined
  const usage = models ? sumUsage(models.map(modelUsageOf)) : usageOf(objectOf(entry['usage']))
  const cost = models ? sum(models.map((model) => countOf(model['costUSD']))) : (total ?? 0) - settled.totalCostUsd
  settled.usage = addUsage(settled.usage, usage)
  settled.totalCostUsd = total ?? settled.totalCostUsd
  seen.usage = settled.usage
  if (total !== undefined || models) seen.costUsd = (seen.costUsd ?? 0) + Math.max(0, cost)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

const usageOf = (usage: JsonObject): Usage => ({
  inputTokens: countOf(usage['input_tokens']),
  outputTokens: countOf(usage['output_tokens']),
  cacheReadTokens: countOf(usage['cache_read_input_tokens']),
  cacheWriteTokens: countOf(usage['cache_creation_input_tokens']),
})

const modelUsageOf = (model: JsonObject): Usage => ({
  inputTokens: countOf(model['inputTokens']),
  outputTokens: countOf(model['outputTokens']),
  cacheReadTokens: countOf(model['cacheReadInputTokens']),
  cacheWriteTokens: countOf(model['cacheCreationInputTokens']),
})
