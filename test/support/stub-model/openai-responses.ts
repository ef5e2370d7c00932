import {
  type JsonBody,
  type Dialect,
  isBody,
  type Message,
  newId,
  listObjects,
  pieces,
  type ServerSentEvent,
  type ToolCall,
} from './dialect.ts'

const errorTypes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  429: 'rate_limit_exceeded',
  500: 'server_error',
}

/** The Responses API, for Codex. */
export const openaiResponses: Dialect = {
  name: 'openai-responses',
  answers: (path) => path.endsWith('/responses'),
  tools: ({ tools }) =>
    listObjects(tools).flatMap(({ type, name, tools: inner }) =>
      type === 'namespace' ? listObjects(inner).map((tool) => String(tool['name'])) : [String(name ?? type)],
    ),
  stream: (message, { body }) => {
    const output = formatItems(message)
    const response = { id: newId('resp'), object: 'response', model: body['model'], error: null, output: [] }
    const { input, output: out } = message.usage
    const usage = { input_tokens: input, output_tokens: out, total_tokens: input + out }
    return [
      say('response.created', { response: { ...response, status: 'in_progress' } }),
      ...output.flatMap(streamItem),
      say('response.completed', { response: { ...response, status: 'completed', output, usage } }),
    ]
  },
  error: ({ status, message = `refused with ${status}` }) => {
    const type = errorTypes[status] ?? 'server_error'
    return { error: { message, type, code: type, param: null } }
  },
}

const say = (type: string, rest: JsonBody): ServerSentEvent => ({ event: type, data: { type, ...rest } })

const formatItems = ({ text, calls }: Message): readonly JsonBody[] => [
  ...(text === undefined
    ? []
    : [
        {
          type: 'message',
          id: newId('msg'),
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]),
  ...calls.map(callItem),
]

function callItem({ name, input }: ToolCall): JsonBody {
  const call = { call_id: newId('call'), name, status: 'completed' }
  if (typeof input === 'string') return { type: 'custom_tool_call', id: newId('ctc'), ...call, input }
  return { type: 'function_call', id: newId('fc'), ...call, arguments: JSON.stringify(input) }
}

function streamItem(item: JsonBody, index: number): ServerSentEvent[] {
  const at = { item_id: item['id'], output_index: index }
  const text = isBody(listObjects(item['content'])[0]) ? String(listObjects(item['content'])[0]?.['text']) : ''
  const started = item['type'] === 'message' ? { ...item, status: 'in_progress', content: [] } : item
  return [
    say('response.output_item.added', { output_index: index, item: started }),
    ...pieces(text).map((delta) => say('response.output_text.delta', { ...at, content_index: 0, delta })),
    say('response.output_item.done', { output_index: index, item }),
  ]
}
