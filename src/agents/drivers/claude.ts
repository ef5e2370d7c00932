import type { AgentEvent } from '../../contract/events.ts'
import { noUsage, type Usage } from '../../contract/outcome.ts'
import { parseLegacyReset, classifyResult, classifyRetry } from './claude-failures.ts'
import type { Driver, KeyUse } from './driver.ts'
import type { Reader } from '../readers/reader.ts'
import {
  asNumber,
  asText,
  asCount,
  isJsonObject,
  type JsonObject,
  toJsonList,
  toJsonObject,
  parseObject,
} from '../readers/json.ts'
import { createJsonReader } from '../readers/reader.ts'
import { isDeclaredSandbox } from './sandbox-flag.ts'
import { createReaderState, type ReaderState } from '../readers/reader-state.ts'
import { type ToolTracker, createToolTracker } from '../readers/tools.ts'
import { addTokenUsage, sumUsage } from '../readers/usage.ts'

/**
 * Below the folder of its state: what it reads as instructions or runs as a program, `local` being the program itself. It reads `.config.json`
 * instead of `.claude.json` if there is one.
 */
const executedFiles =
  'settings.json settings.local.json .config.json CLAUDE.md agents commands skills hooks rules output-styles plugins workflows local'.split(
    ' ',
  )

/** Below the folder of its state: scripts that its shells source, tokens of editors, pasted texts, work for its background processes. */
const sessionFolders =
  'shell-snapshots session-env ide paste-cache daemon jobs bridge-spawn dev-mods remote-control mcp-skill-archives'.split(
    ' ',
  )

export const claudeSettings = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  // By default Claude Code retries for three minutes; the loop waits visibly, and its wait survives a restart.
  CLAUDE_CODE_MAX_RETRIES: '2',
  // With a background task, Claude Code stays up to ten minutes after its result, then makes another model call.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // Reports a refused start as a result, not on stderr alone.
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
  settings: ({ CLAUDE_CONFIG_DIR: own = '.claude' }) => executedFiles.map((name) => `${own}/${name}`),
  sessions: ({ CLAUDE_CONFIG_DIR: base = '.claude' }, cwd) => {
    const project = cwd.replaceAll(/[^\dA-Za-z]/g, '-')
    // It shortens longer ones in a way of its own.
    const hasOwn = project.length <= 200
    return {
      hidden: [...sessionFolders, ...(hasOwn ? ['projects'] : [])].map((name) => `${base}/${name}`),
      hiddenFiles: [`${base}/history.jsonl`],
      own: hasOwn ? [`${base}/projects/${project}`] : [],
    }
  },
  protectedValues: ({ CLAUDE_CONFIG_DIR: own }) => ({
    file: own ? `${own}/.claude.json` : '.claude.json',
    keys: [
      'mcpServers',
      'enableAllProjectMcpServers',
      'enabledMcpjsonServers',
      'hasTrustDialogAccepted',
      'allowedTools',
    ],
    within: ['projects'],
  }),
  keys: findClaudeKey,
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
    reportsVersion: true,
    login: {
      variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
      credentials: ['.claude/.credentials.json'],
      statusArgs: ['auth', 'status'],
    },
  },
  warn: ({ isRoot, sandboxed, env }) =>
    isRoot && !sandboxed && !isDeclaredSandbox(env)
      ? 'Claude Code refuses to work unattended as root: use another user or a sandbox, or set IS_SANDBOX=1 if this machine is one'
      : undefined,
  read: readClaude,
}

/** Also reads every other program that speaks `stream-json`. */
export function readClaude(): Reader {
  return createJsonReader(createClaudeStream(), { translate: translateClaude, parseQuickly: parseToolResult })
}

const toolResult = '{"type":"user","message":'

/**
 * A tool result comes twice, and the second copy makes up most of a transcript, so parse only the message. Slice it in place:
 * concatenating would copy the text. If the slice ends at the wrong place, parsing fails.
 */
function parseToolResult(line: string): JsonObject | undefined {
  if (!line.startsWith(toolResult)) return undefined
  const end = line.indexOf(',"parent_tool_use_id":')
  const message = end === -1 ? undefined : parseObject(line.slice(toolResult.length, end))
  return message && { type: 'user', message }
}

type ClaudeStream = ReaderState & {
  readonly tools: ToolTracker
  readonly settled: { usage: Usage; totalCostUsd: number }
  messageId: string | undefined
  messageError: string | undefined
  toolsDone: number
}

const createClaudeStream = (): ClaudeStream => ({
  ...createReaderState(),
  tools: createToolTracker(),
  settled: { usage: noUsage, totalCostUsd: 0 },
  messageId: undefined,
  messageError: undefined,
  toolsDone: 0,
})

function translateClaude(stream: ClaudeStream, entry: JsonObject): AgentEvent[] {
  switch (entry['type']) {
    case 'assistant':
      return onAssistant(stream, entry)
    case 'user':
      return onToolResults(stream, entry)
    case 'system':
      return onSystem(stream, entry)
    case 'rate_limit_event':
      return onRateLimit(stream, toJsonObject(entry['rate_limit_info']))
    case 'result':
      return onClaudeResult(stream, entry)
    default:
      return []
  }
}

function onAssistant(stream: ClaudeStream, entry: JsonObject): AgentEvent[] {
  const message = toJsonObject(entry['message'])
  if (isSyntheticMessage(entry)) {
    stream.messageError = asText(entry['error'])
    return []
  }
  stream.trouble = undefined
  if (typeof entry['parent_tool_use_id'] === 'string') return startTools(stream, message)
  const texts = readTexts(message)
  const events = [...startMessage(stream, message), ...texts, ...startTools(stream, message)]
  for (const { text } of texts) stream.text += text
  return events
}

/** Claude Code shows a failed model call as an assistant message that no model wrote. */
const isSyntheticMessage = (entry: JsonObject): boolean =>
  entry['is_api_error_message'] === true || typeof entry['error'] === 'string'

/** A message arrives block by block under one id; its usage is the one at its start, a lower bound until the result. */
function startMessage(stream: ClaudeStream, message: JsonObject): AgentEvent[] {
  const id = asText(message['id'])
  if (id !== undefined && id === stream.messageId) return []
  stream.messageId = id
  stream.text = ''
  stream.usage = addTokenUsage(stream.usage, readMessageUsage(toJsonObject(message['usage'])))
  return [{ kind: 'usage', usage: stream.usage }]
}

function readTexts(message: JsonObject): Extract<AgentEvent, { kind: 'text' }>[] {
  return toJsonList(message['content']).flatMap((block) => {
    const text = isJsonObject(block) && block['type'] === 'text' ? asText(block['text']) : undefined
    return text === undefined ? [] : [{ kind: 'text', text }]
  })
}

function startTools(stream: ClaudeStream, message: JsonObject): AgentEvent[] {
  return toJsonList(message['content']).flatMap((block) => {
    const id = isJsonObject(block) && block['type'] === 'tool_use' ? asText(block['id']) : undefined
    if (id === undefined || !isJsonObject(block)) return []
    return [stream.tools.start({ id, name: asText(block['name']), input: block['input'] })]
  })
}

function onToolResults(stream: ClaudeStream, entry: JsonObject): AgentEvent[] {
  return toJsonList(toJsonObject(entry['message'])['content']).flatMap((block) => {
    const id = isJsonObject(block) && block['type'] === 'tool_result' ? asText(block['tool_use_id']) : undefined
    if (id === undefined || !isJsonObject(block)) return []
    const ok = block['is_error'] !== true
    if (ok) stream.toolsDone++
    return [stream.tools.end({ id, ok, output: readToolOutput(block['content']) })]
  })
}

function readToolOutput(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  const texts = toJsonList(content).flatMap((part) => asText(toJsonObject(part)['text']) ?? [])
  return texts.length > 0 ? texts.join('\n') : undefined
}

function onSystem(stream: ClaudeStream, entry: JsonObject): AgentEvent[] {
  switch (entry['subtype']) {
    case 'init':
      return onClaudeInit(stream, entry)
    case 'api_retry':
      return onApiRetry(stream, entry)
    case 'status':
      // Compaction is silent for minutes: emit it as a tool, so that the idle timeout allows as much time as for a tool.
      return entry['status'] === 'compacting' ? [stream.tools.start({ id: 'compaction', name: 'compaction' })] : []
    case 'compact_boundary':
      return [stream.tools.end({ id: 'compaction', ok: true })]
    default:
      return []
  }
}

/** A second `init` follows when a background task wakes the session. */
function onClaudeInit(stream: ClaudeStream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['session_id'])
  if (id === undefined || id === stream.sessionId) return []
  stream.sessionId = id
  const model = asText(entry['model'])
  const version = asText(entry['claude_code_version'])
  const known = entry['slash_commands']
  const commands = Array.isArray(known) ? { commands: known.flatMap((name) => pluginCommand(name)) } : {}
  return [
    {
      kind: 'session',
      id,
      ...(model !== undefined && { model }),
      ...(version !== undefined && { version }),
      ...commands,
    },
  ]
}

const pluginCommand = (name: unknown): string[] => (typeof name === 'string' && name.includes(':') ? [name] : [])

function onApiRetry(stream: ClaudeStream, entry: JsonObject): AgentEvent[] {
  const attempt = asNumber(entry['attempt'])
  const status = asNumber(entry['error_status'])
  const delayMs = asNumber(entry['retry_delay_ms'])
  const reason = asText(entry['error'])
  stream.trouble = classifyRetry(status, reason)
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

function onRateLimit(stream: ClaudeStream, info: JsonObject): AgentEvent[] {
  if (info['status'] !== 'rejected' || info['isUsingOverage'] === true) return []
  const seconds = asNumber(info['resetsAt'])
  const resetsAt = seconds === undefined ? undefined : seconds * 1000
  const reason = asText(info['rateLimitType'])
  stream.resetsAt = resetsAt
  stream.trouble = { class: 'usage_limit', reason: `the usage limit (${reason ?? 'of the account'}) was reached` }
  return [{ kind: 'limit', ...(resetsAt !== undefined && { resetsAt }), ...(reason !== undefined && { reason }) }]
}

function onClaudeResult(stream: ClaudeStream, entry: JsonObject): AgentEvent[] {
  settleUsage(stream, entry)
  const { messageError, toolsDone } = stream
  const terminal = classifyResult(entry, {
    messageError,
    toolsDone,
    limitReached: stream.trouble?.class === 'usage_limit',
  })
  stream.terminal = terminal
  // Claude Code also names sessions that it could not start or resume.
  if (terminal.ok) stream.sessionId ??= asText(entry['session_id'])
  stream.resetsAt = parseLegacyReset(entry) ?? stream.resetsAt
  stream.structured = entry['structured_output'] ?? undefined
  if (terminal.ok) stream.text = asText(entry['result']) ?? stream.text
  return [
    { kind: 'usage', usage: stream.usage },
    { kind: 'terminal', ok: terminal.ok, ...(!terminal.ok && { reason: terminal.reason }) },
  ]
}

/**
 * Totals of a result count from the start of the session, so a resumed session would count twice, and `usage` leaves out
 * subagents. The usage since the last result is right in both cases; older versions do not report it.
 */
function settleUsage(stream: ClaudeStream, entry: JsonObject): void {
  const { settled } = stream
  const total = asNumber(entry['total_cost_usd'])
  const since = entry['model_usage_since_last_result']
  const models = isJsonObject(since) ? Object.values(since).map(toJsonObject) : undefined
  const usage = models ? sumUsage(models.map(readModelUsage)) : readMessageUsage(toJsonObject(entry['usage']))
  const cost = models
    ? sumNumbers(models.map((model) => asCount(model['costUSD'])))
    : (total ?? 0) - settled.totalCostUsd
  settled.usage = addTokenUsage(settled.usage, usage)
  settled.totalCostUsd = total ?? settled.totalCostUsd
  stream.usage = settled.usage
  if (total !== undefined || models) stream.costUsd = (stream.costUsd ?? 0) + Math.max(0, cost)
}

const sumNumbers = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

const readMessageUsage = (usage: JsonObject): Usage => ({
  inputTokens: asCount(usage['input_tokens']),
  outputTokens: asCount(usage['output_tokens']),
  cacheReadTokens: asCount(usage['cache_read_input_tokens']),
  cacheWriteTokens: asCount(usage['cache_creation_input_tokens']),
})

const readModelUsage = (model: JsonObject): Usage => ({
  inputTokens: asCount(model['inputTokens']),
  outputTokens: asCount(model['outputTokens']),
  cacheReadTokens: asCount(model['cacheReadInputTokens']),
  cacheWriteTokens: asCount(model['cacheCreationInputTokens']),
})

function findClaudeKey(env: Readonly<Record<string, string>>): KeyUse {
  return {
    variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    upstream: env['ANTHROPIC_BASE_URL'] ?? 'https://api.anthropic.com',
    redirect: (url) => ({ env: { ANTHROPIC_BASE_URL: url } }),
  }
}
