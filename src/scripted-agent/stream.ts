/** A line of `claude -p --output-format stream-json --verbose`, with the fields that matter. */
export type StreamLine = Readonly<Record<string, unknown>>

export type ToolResult = { readonly content: string; readonly isError: boolean }

const model = 'scripted'
const usage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 }

export const initLine = (cwd: string): StreamLine => ({
  type: 'system',
  subtype: 'init',
  cwd,
  tools: ['Bash', 'Edit', 'Read', 'Write'],
  mcp_servers: [],
  model,
  permissionMode: 'bypassPermissions',
  apiKeySource: 'none',
})

export const textLine = (messageId: string, text: string): StreamLine =>
  assistantLine(messageId, { type: 'text', text })

export const toolUseLine = (messageId: string, tool: { id: string; name: string; input: StreamLine }): StreamLine =>
  assistantLine(messageId, { type: 'tool_use', ...tool })

const assistantLine = (id: string, block: StreamLine): StreamLine => ({
  type: 'assistant',
  message: {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [block],
    stop_reason: null,
    stop_sequence: null,
    usage,
  },
  parent_tool_use_id: null,
})

export const toolResultLine = (toolId: string, { content, isError }: ToolResult): StreamLine => ({
  type: 'user',
  message: {
    role: 'user',
    content: [{ tool_use_id: toolId, type: 'tool_result', content, is_error: isError }],
  },
  parent_tool_use_id: null,
})

type TurnTotals = { readonly text: string; readonly turns: number; readonly durationMs: number }

export const resultLine = (totals: TurnTotals): StreamLine => ({
  ...endLine(totals),
  is_error: false,
  stop_reason: 'end_turn',
  terminal_reason: 'completed',
})

/** What Claude Code prints when a subscription is used up: only the event has the reset time, in seconds since 1970. */
export const limitLine = (resetsAt: number): StreamLine => ({
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', resetsAt, rateLimitType: 'five_hour', isUsingOverage: false },
})

/** `subtype` is `success` even here, as in Claude Code; `is_error` and `terminal_reason` are reliable. */
export const limitResultLine = (totals: TurnTotals): StreamLine => ({
  ...endLine(totals),
  is_error: true,
  stop_reason: 'stop_sequence',
  terminal_reason: 'api_error',
  api_error_status: 429,
  api_error_type: 'rate_limit_error',
  api_error: 'usage_limit_reached',
})

const endLine = ({ text, turns, durationMs }: TurnTotals): StreamLine => ({
  type: 'result',
  subtype: 'success',
  duration_ms: durationMs,
  num_turns: turns,
  result: text,
  total_cost_usd: 0,
  usage,
  permission_denials: [],
})
