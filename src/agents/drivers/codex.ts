import type { AgentEvent } from '../../contract/events.ts'
import { noUsage, type Usage } from '../../contract/outcome.ts'
import { toOutcome } from '../readers/outcome.ts'
import type { Driver, IsFile, KeyUse } from './driver.ts'
import type { Exit } from '../readers/outcome.ts'
import type { Reader } from '../readers/reader.ts'
import { classifyMessage, parseResetTime, parseStatus } from '../readers/error-messages.ts'
import { asText, asCount, type JsonObject, toJsonList, toJsonObject } from '../readers/json.ts'
import { createJsonReader } from '../readers/reader.ts'
import { createReaderState, type ReaderState } from '../readers/reader-state.ts'
import { type ToolTracker, createToolTracker } from '../readers/tools.ts'
import { subtractUsage } from '../readers/usage.ts'

const formFile = 'form.json'

/** Below the folder of its state; `packages` has the program itself where its installer put it. */
const executedFiles =
  'config.toml *.config.toml .env AGENTS.md AGENTS.override.md hooks.json agents prompts rules skills plugins packages'.split(
    ' ',
  )

/** Codex in headless mode. */
export const codex: Driver = {
  name: 'codex',
  program: 'codex',
  models: ['gpt-*', 'codex-*', 'o1*', 'o3*', 'o4*'],
  env: ['OPENAI_*', 'AZURE_OPENAI_*', 'CODEX_HOME', 'CODEX_API_KEY', 'CODEX_CA_CERTIFICATE'],
  state: ({ CODEX_HOME: own = '.codex' }) => [own],
  settings: ({ CODEX_HOME: own = '.codex' }) => executedFiles.map((name) => `${own}/${name}`),
  sessions: ({ CODEX_HOME: own = '.codex' }) => ({
    hidden: ['shell_snapshots', 'memories', 'tmp', '.tmp'].map((name) => `${own}/${name}`),
  }),
  keys: findCodexKey,
  command: ({ folder, model, resume, form }) => ({
    file: 'codex',
    args: [
      'exec',
      '--json',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      // Plugins sync at the start, which keeps the process alive for seconds after the turn.
      '--disable',
      'plugins',
      '-c',
      'analytics.enabled=false',
      '-c',
      'check_for_update_on_startup=false',
      ...(model ? ['--model', model] : []),
      ...(form ? ['--output-schema', `${folder}/${formFile}`] : []),
      ...(resume ? ['resume', resume] : []),
      '-',
    ],
    ...(form && { files: { [formFile]: JSON.stringify(form) } }),
  }),
  about: {
    tested: ['0.166.0', '0.167.0'],
    login: { variables: ['CODEX_API_KEY'], credentials: ['.codex/auth.json'], statusArgs: ['login', 'status'] },
  },
  native: findCodexBinary,
  read: readCodex,
}

/**
 * The binary behind the script that npm installs, in the places where the script itself looks. Killing only the script
 * leaves the binary running.
 */
export function findCodexBinary(script: string, isFile: IsFile): string | undefined {
  const root = /^(.*)\/bin\/codex\.js$/.exec(script)?.[1]
  const platform = `${process.platform}-${process.arch}`
  const target = targets[platform]
  if (root === undefined || target === undefined) return undefined
  return [`${root}-${platform}`, `${root}/node_modules/@openai/codex-${platform}`, root]
    .map((folder) => `${folder}/vendor/${target}/bin/codex`)
    .find((file) => isFile(file))
}

const targets: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

type CodexStream = ReaderState & {
  readonly tools: ToolTracker
  readonly earlier: Usage
  toolsDone: number
  toolsDeclined: number
}

function readCodex(earlier: Usage = noUsage): Reader {
  const stream = { ...createReaderState(), tools: createToolTracker(), earlier, toolsDone: 0, toolsDeclined: 0 }
  return createJsonReader<CodexStream>(stream, { translate: translateCodex, judge: concludeCodex })
}

function translateCodex(stream: CodexStream, entry: JsonObject): AgentEvent[] {
  switch (entry['type']) {
    case 'thread.started':
      return onThread(stream, entry)
    case 'item.started':
      return onItem(stream, toJsonObject(entry['item']), 'start')
    case 'item.completed':
      return onItem(stream, toJsonObject(entry['item']), 'end')
    case 'error':
      return onErrorEvent(stream, asText(entry['message']) ?? '')
    case 'turn.completed':
      return onTurnCompleted(stream, toJsonObject(entry['usage']))
    case 'turn.failed':
      return onTurnFailed(stream, asText(toJsonObject(entry['error'])['message']) ?? 'the turn failed')
    default:
      return []
  }
}

function onThread(stream: CodexStream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['thread_id'])
  if (id === undefined) return []
  stream.sessionId = id
  return [{ kind: 'session', id }]
}

/** Items that are not tool calls: messages of the model, its plan, and warnings that are not final. */
const nonToolItems = new Set<unknown>(['agent_message', 'reasoning', 'todo_list', 'error'])

function onItem(stream: CodexStream, item: JsonObject, phase: 'start' | 'end'): AgentEvent[] {
  const id = asText(item['id'])
  const type = asText(item['type'])
  if (id === undefined || type === undefined) return []
  if (phase === 'end') stream.trouble = undefined
  if (type === 'agent_message' && phase === 'end') {
    stream.text = asText(item['text']) ?? ''
    return [{ kind: 'text', text: stream.text }]
  }
  if (nonToolItems.has(type)) return []
  const started = stream.tools.has(id) ? [] : [stream.tools.start({ id, name: type, input: readItemInput(item) })]
  return phase === 'start' ? started : [...started, endTool(stream, id, item)]
}

function endTool(stream: CodexStream, id: string, item: JsonObject): AgentEvent {
  const declined = item['status'] === 'declined'
  const ok = !declined && item['status'] !== 'failed'
  if (declined) stream.toolsDeclined++
  else if (ok) stream.toolsDone++
  const output = asText(item['aggregated_output']) ?? asText(toJsonObject(item['error'])['message'])
  return stream.tools.end({ id, ok, output })
}

/** The item without the fields that describe its progress. */
function readItemInput(item: JsonObject): JsonObject {
  const { id: _id, type: _type, status: _status, exit_code: _code, aggregated_output: _output, ...input } = item
  const path = asText(toJsonObject(toJsonList(item['changes'])[0])['path'])
  return path === undefined ? input : { path, ...input }
}

/** Not final: the turn continues, or `turn.failed` follows. */
function onErrorEvent(stream: CodexStream, message: string): AgentEvent[] {
  stream.trouble = { class: classifyMessage(message), reason: message }
  const retry = /^Reconnecting\.\.\.(?: (\d+)\/\d+)? ?(?:\((.*)\))?/s.exec(message)
  if (!retry) return []
  const status = parseStatus(message)
  return [
    {
      kind: 'retry',
      ...(retry[1] !== undefined && { attempt: Number(retry[1]) }),
      ...(status !== undefined && { status }),
      reason: retry[2] ?? message,
    },
  ]
}

/** The usage counts from the start of the thread, and its input includes cached tokens. */
function onTurnCompleted(stream: CodexStream, usage: JsonObject): AgentEvent[] {
  const cached = asCount(usage['cached_input_tokens'])
  const total: Usage = {
    inputTokens: Math.max(0, asCount(usage['input_tokens']) - cached),
    outputTokens: asCount(usage['output_tokens']),
    cacheReadTokens: cached,
    cacheWriteTokens: asCount(usage['cache_write_input_tokens']),
  }
  stream.usage = subtractUsage(total, stream.earlier)
  stream.terminal = isEveryToolDeclined(stream)
    ? { ok: false, class: 'tool_denied', reason: 'every tool that it wanted to use was denied' }
    : { ok: true }
  return [
    { kind: 'usage', usage: stream.usage },
    { kind: 'terminal', ok: stream.terminal.ok },
  ]
}

const isEveryToolDeclined = ({ toolsDone, toolsDeclined }: CodexStream): boolean => toolsDone === 0 && toolsDeclined > 0

function onTurnFailed(stream: CodexStream, message: string): AgentEvent[] {
  const failure = classifyMessage(message)
  stream.terminal = { ok: false, class: failure, reason: message }
  const limit: AgentEvent[] = failure === 'usage_limit' ? [{ kind: 'limit', reason: message }] : []
  return [...limit, { kind: 'terminal', ok: false, reason: message }]
}

function concludeCodex(stream: CodexStream, exit: Exit) {
  const reason = stream.terminal && !stream.terminal.ok ? stream.terminal.reason : stream.trouble?.reason
  if (reason !== undefined && exit.at !== undefined) stream.resetsAt = parseResetTime(reason, exit.at)
  // Codex prints this at every start; as the last line of stderr it would look like the reason for a crash.
  return toOutcome(stream, { ...exit, stderrTail: exit.stderrTail.replaceAll(/^Reading .*from stdin\.\.\.$/gm, '') })
}

/** A provider in config.toml keeps its other settings; without one, a provider of ours stands in for the built-in one. */
function findCodexKey(
  env: Readonly<Record<string, string>>,
  readFile: (path: string) => string | undefined,
): KeyUse | undefined {
  const text = readFile(`${env['CODEX_HOME'] ?? `${env['HOME'] ?? ''}/.codex`}/config.toml`) ?? ''
  const name = /^\s*model_provider\s*=\s*"([\w-]+)"/m.exec(text)?.[1]
  if (name === undefined) {
    const variable = ['CODEX_API_KEY', 'OPENAI_API_KEY'].find((each) => env[each] !== undefined)
    if (variable === undefined) return undefined
    const provider = (url: string) =>
      `model_providers.ralph={name="OpenAI",base_url="${url}",wire_api="responses",env_key="${variable}"}`
    return {
      variables: [variable],
      upstream: env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1',
      redirect: (url) => ({ args: ['-c', 'model_provider="ralph"', '-c', provider(url)] }),
    }
  }
  const [, table = ''] = text.split(`[model_providers.${name}]`)
  const own = table.split(/^\s*\[/m)[0] ?? ''
  const field = (key: string) => new RegExp(String.raw`^\s*${key}\s*=\s*"([^"]+)"`, 'm').exec(own)?.[1]
  const [upstream, variable] = [field('base_url'), field('env_key')]
  if (upstream === undefined || variable === undefined) return undefined
  return {
    variables: [variable],
    upstream,
    redirect: (url) => ({ args: ['-c', `model_providers.${name}.base_url="${url}"`] }),
  }
}
