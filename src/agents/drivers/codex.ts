import type { AgentEvent } from '../../contract/events.ts'
import { noUsage, type Usage } from '../../contract/outcome.ts'
import { conclude } from './outcome.ts'
import type { Driver, Exit, IsFile, Reader } from './driver.ts'
import { classOfMessage, resetIn, statusIn } from './error-messages.ts'
import { asText, countOf, type JsonObject, listOf, objectOf } from './json.ts'
import { jsonLines } from './reader.ts'
import { nothingSeen, type Seen } from './seen.ts'
import { type OpenTools, openTools } from './tools.ts'
import { minusUsage } from './usage.ts'

const formFile = 'form.json'

/** Codex in headless mode. */
export const codex: Driver = {
  name: 'codex',
  program: 'codex',
  models: ['gpt-*', 'codex-*', 'o1*', 'o3*', 'o4*'],
  env: ['OPENAI_*', 'AZURE_OPENAI_*', 'CODEX_HOME', 'CODEX_API_KEY', 'CODEX_CA_CERTIFICATE'],
  state: ({ CODEX_HOME: own = '.codex' }) => [own],
  settings: ({ CODEX_HOME: own = '.codex' }) => [`${own}/config.toml`, `${own}/AGENTS.md`],
  command: ({ folder, model, resume, form }) => ({
    file: 'codex',
    args: [
      'exec',
      '--json',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      // Their sync at the start keeps the process alive for seconds after the turn.
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
    login: { variables: ['CODEX_API_KEY'], ask: ['login', 'status'] },
  },
  native: nativeCodex,
  read: readCodex,
}

/**
 * The binary behind the script that npm installs, in the places where the script itself looks. Killing the script alone
 * leaves the binary at work.
 */
export function nativeCodex(script: string, isFile: IsFile): string | undefined {
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

type Stream = Seen & { readonly tools: OpenTools; readonly earlier: Usage; toolsDone: number; toolsDeclined: number }

function readCodex(earlier: Usage = noUsage): Reader {
  const seen = { ...nothingSeen(), tools: openTools(), earlier, toolsDone: 0, toolsDeclined: 0 }
  return jsonLines<Stream>(seen, { translate, judge })
}

function translate(seen: Stream, entry: JsonObject): AgentEvent[] {
  switch (entry['type']) {
    case 'thread.started':
      return onThread(seen, entry)
    case 'item.started':
      return onItem(seen, objectOf(entry['item']), 'start')
    case 'item.completed':
      return onItem(seen, objectOf(entry['item']), 'end')
    case 'error':
      return onError(seen, asText(entry['message']) ?? '')
    case 'turn.completed':
      return onTurnCompleted(seen, objectOf(entry['usage']))
    case 'turn.failed':
      return onTurnFailed(seen, asText(objectOf(entry['error'])['message']) ?? 'the turn failed')
    default:
      return []
  }
}

function onThread(seen: Stream, entry: JsonObject): AgentEvent[] {
  const id = asText(entry['thread_id'])
  if (id === undefined) return []
  seen.sessionId = id
  return [{ kind: 'session', id }]
}

/** Items that are no tools: words of the model, its plan, and warnings that are not final. */
const notTools = new Set<unknown>(['agent_message', 'reasoning', 'todo_list', 'error'])

function onItem(seen: Stream, item: JsonObject, phase: 'start' | 'end'): AgentEvent[] {
  const id = asText(item['id'])
  const type = asText(item['type'])
  if (id === undefined || type === undefined) return []
  if (phase === 'end') seen.trouble = undefined
  if (type === 'agent_message' && phase === 'end') {
    seen.text = asText(item['text']) ?? ''
    return [{ kind: 'text', text: seen.text }]
  }
  if (notTools.has(type)) return []
  const started = seen.tools.has(id) ? [] : [seen.tools.start({ id, name: type, input: inputOf(item) })]
  return phase === 'start' ? started : [...started, endTool(seen, id, item)]
}

function endTool(seen: Stream, id: string, item: JsonObject): AgentEvent {
  const declined = item['status'] === 'declined'
  const ok = !declined && item['status'] !== 'failed'
  if (declined) seen.toolsDeclined++
  else if (ok) seen.toolsDone++
  const output = asText(item['aggregated_output']) ?? asText(objectOf(item['error'])['message'])
  return seen.tools.end({ id, ok, output })
}

/** What the item is about, without the fields that tell how it goes. */
function inputOf(item: JsonObject): JsonObject {
  const { id: _id, type: _type, status: _status, exit_code: _code, aggregated_output: _output, ...input } = item
  const path = asText(objectOf(listOf(item['changes'])[0])['path'])
  return path === undefined ? input : { path, ...input }
}

/** Not final: it goes on, or `turn.failed` follows. */
function onError(seen: Stream, message: string): AgentEvent[] {
  seen.trouble = { class: classOfMessage(message), reason: message }
  const retry = /^Reconnecting\.\.\.(?: (\d+)\/\d+)? ?(?:\((.*)\))?/s.exec(message)
  if (!retry) return []
  const status = statusIn(message)
  return [
    {
      kind: 'retry',
      ...(retry[1] !== undefined && { attempt: Number(retry[1]) }),
      ...(status !== undefined && { status }),
      reason: retry[2] ?? message,
    },
  ]
}

/** The usage counts from the start of the thread, and its input includes what came from the cache. */
function onTurnCompleted(seen: Stream, usage: JsonObject): AgentEvent[] {
  const cached = countOf(usage['cached_input_tokens'])
  const total: Usage = {
    inputTokens: Math.max(0, countOf(usage['input_tokens']) - cached),
    outputTokens: countOf(usage['output_tokens']),
    cacheReadTokens: cached,
    cacheWriteTokens: countOf(usage['cache_write_input_tokens']),
  }
  seen.usage = minusUsage(total, seen.earlier)
  seen.terminal = allDeclined(seen)
    ? { ok: false, class: 'tool_denied', reason: 'every tool that it wanted to use was denied' }
    : { ok: true }
  return [
    { kind: 'usage', usage: seen.usage },
    { kind: 'terminal', ok: seen.terminal.ok },
  ]
}

const allDeclined = ({ toolsDone, toolsDeclined }: Stream): boolean => toolsDone === 0 && toolsDeclined > 0

function onTurnFailed(seen: Stream, message: string): AgentEvent[] {
  const failure = classOfMessage(message)
  seen.terminal = { ok: false, class: failure, reason: message }
  const limit: AgentEvent[] = failure === 'usage_limit' ? [{ kind: 'limit', reason: message }] : []
  return [...limit, { kind: 'terminal', ok: false, reason: message }]
}

function judge(seen: Stream, exit: Exit) {
  const said = seen.terminal && !seen.terminal.ok ? seen.terminal.reason : seen.trouble?.reason
  if (said !== undefined && exit.at !== undefined) seen.resetsAt = resetIn(said, exit.at)
  // It says so at every start; as the last line of stderr it would look like the reason of a crash.
  return conclude(seen, { ...exit, stderrTail: exit.stderrTail.replaceAll(/^Reading .*from stdin\.\.\.$/gm, '') })
}
