import { type JsonBody, type Dialect, type Message, listNames, newId, pieces, type ServerSentEvent } from './dialect.ts'

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** The Messages API. */
export const anthropic: Dialect = {
  name: 'anthropic',
  answers: (path) => path.startsWith('/v1/messages'),
  tools: ({ tools }) => listNames(tools),
  stream: (message, { body }) => {
    const { usage } = message
    const blocks = formatBlocks(message)
    return [
      say('message_start', {
        message: { ...shell(message, body), usage: { ...formatUsage(usage), output_tokens: 1 } },
      }),
      ...blocks.flatMap(streamBlock),
      say('message_delta', {
        delta: { stop_reason: stopReason(message), stop_sequence: null },
        usage: { output_tokens: usage.output },
      }),
      say('message_stop', {}),
    ]
  },
  whole: (message, { body }) => ({
    ...shell(message, body),
    content: formatBlocks(message),
    stop_reason: stopReason(message),
  }),
  error: ({ status, message = `refused with ${status}` }) => ({
    type: 'error',
    error: { type: errorTypes[status] ?? 'api_error', message },
  }),
}

type Block = { readonly type: 'text'; readonly text: string } | ToolUse
type ToolUse = { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }

const say = (type: string, rest: JsonBody): ServerSentEvent => ({ event: type, data: { type, ...rest } })

const shell = ({ usage }: Message, { model }: JsonBody) => ({
  id: newId('msg'),
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: formatUsage(usage),
})

const formatUsage = ({ input, output }: Message['usage']) => ({
  input_tokens: input,
  output_tokens: output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
})

const formatBlocks = ({ text, calls }: Message): readonly Block[] => [
  ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
  ...calls.map(({ name, input }) => ({ type: 'tool_use' as const, id: newId('toolu'), name, input })),
]

const stopReason = ({ calls }: Message): string => (calls.length > 0 ? 'tool_use' : 'end_turn')

function streamBlock(block: Block, index: number): ServerSentEvent[] {
  const empty = block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} }
  const deltas =
    block.type === 'text'
      ? pieces(block.text).map((text) => ({ type: 'text_delta', text }))
      : pieces(JSON.stringify(block.input)).map((json) => ({ type: 'input_json_delta', partial_json: json }))
  return [
    say('content_block_start', { index, content_block: empty }),
    ...deltas.map((delta) => say('content_block_delta', { index, delta })),
    say('content_block_stop', { index }),
  ]
}
