import {
  type ModelCall,
  type JsonBody,
  type Dialect,
  isBody,
  type Message,
  listNames,
  newId,
  listObjects,
  pieces,
} from './dialect.ts'

const statuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
}

/** The Gemini API. */
export const gemini: Dialect = {
  name: 'gemini',
  answers: (path) => /:(?:streamGenerateContent|generateContent)$/.test(path),
  tools: ({ tools }) => listObjects(tools).flatMap(({ functionDeclarations }) => listNames(functionDeclarations)),
  stream: (message, modelCall) => [
    ...pieces(message.text ?? '').map((text) => ({ data: answer([{ text }], message, modelCall) })),
    ...formatCalls(message).map((call) => ({ data: answer([call], message, modelCall) })),
    { data: { ...answer([{ text: '' }], message, modelCall, 'STOP') } },
  ],
  whole: (message, call) => answer([{ text: message.text ?? '' }, ...formatCalls(message)], message, call, 'STOP'),
  aside: ({ body }) =>
    JSON.stringify(Object.fromEntries(readProperties(body).map(([name, schema]) => [name, some(schema)]))),
  error: ({ status, message = `refused with ${status}` }) => ({
    error: { code: status, message, status: statuses[status] ?? 'UNKNOWN' },
  }),
}

const formatCalls = ({ calls }: Message): readonly JsonBody[] =>
  calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))

function answer(parts: readonly JsonBody[], { usage }: Message, { path }: ModelCall, finishReason?: string): JsonBody {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
    modelVersion: /models\/([^:]+):/.exec(path)?.[1],
    responseId: newId('gem'),
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
  }
}

/** The router and the like ask for JSON of a given form. */
function readProperties({ generationConfig }: JsonBody): readonly (readonly [string, JsonBody])[] {
  const config = isBody(generationConfig) ? generationConfig : {}
  const schema = config['responseJsonSchema'] ?? config['responseSchema']
  const properties = isBody(schema) ? schema['properties'] : undefined
  return isBody(properties)
    ? Object.entries(properties).filter((entry): entry is [string, JsonBody] => isBody(entry[1]))
    : []
}

function some({ type, enum: choices }: JsonBody): unknown {
  if (Array.isArray(choices)) return choices[0]
  return /number|integer/i.test(String(type)) ? 1 : /bool/i.test(String(type)) ? false : 'some'
}
