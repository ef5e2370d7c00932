import { type JsonBody, type Dialect, isBody, newId, listObjects, pieces } from './dialect.ts'

/** Chat Completions, as OpenCode and every "OpenAI-compatible" program speaks it. */
export const openaiChat: Dialect = {
  name: 'openai-chat',
  answers: (path) => path.endsWith('/chat/completions'),
  tools: ({ tools }) =>
    listObjects(tools).flatMap(({ function: tool }) => (isBody(tool) ? [String(tool['name'])] : [])),
  stream: ({ text = '', calls, usage }, { body }) => {
    const chunk = (rest: JsonBody) => ({ data: { ...base(body), ...rest } })
    const delta = (change: JsonBody) => chunk({ choices: [{ index: 0, delta: change, finish_reason: null }] })
    return [
      delta({ role: 'assistant', content: '' }),
      ...pieces(text).map((content) => delta({ content })),
      ...calls.map(({ name, input }, index) =>
        delta({
          tool_calls: [
            { index, id: newId('call'), type: 'function', function: { name, arguments: JSON.stringify(input) } },
          ],
        }),
      ),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }] }),
      chunk({
        choices: [],
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          total_tokens: usage.input + usage.output,
        },
      }),
      { data: '[DONE]' },
    ]
  },
  error: ({ status, message = `refused with ${status}` }) => ({
    error: { message, type: 'error', code: status === 401 ? 'invalid_api_key' : null, param: null },
  }),
}

const base = ({ model }: JsonBody) => ({ id: newId('chat'), object: 'chat.completion.chunk', created: 0, model })
