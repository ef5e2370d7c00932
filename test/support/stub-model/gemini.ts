import {
  type Asked,
  type Body,
  type Dialect,
  isBody,
  type Message,
  namesIn,
  newId,
  objectsIn,
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
  tools: ({ tools }) => objectsIn(tools).flatMap(({ functionDeclarations }) => namesIn(functionDeclarations)),
  stream: (message, asked) => [
    ...pieces(message.text ?? '').map((text) => ({ data: answer([{ text }], message, asked) })),
    ...callsOf(message).map((call) => ({ data: answer([call], message, asked) })),
    { data: { ...answer([{ text: '' }], message, asked, 'STOP') } },
  ],
  whole: (message, asked) => answer([{ text: message.text ?? '' }, ...callsOf(message)], message, asked, 'STOP'),
  aside: ({ body }) =>
    JSON.stringify(Object.fromEntries(propertiesOf(body).map(([name, schema]) => [name, some(schema)]))),
  error: ({ status, message = `refused with ${status}` }) => ({
    error: { code: status, message, status: statuses[status] ?? 'UNKNOWN' },
  }),
}

const callsOf = ({ calls }: Message): readonly Body[] =>
  calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))

function answer(parts: readonly Body[], { usage }: Message, { path }: Asked, finishReason?: string): Body {
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
function propertiesOf({ generationConfig }: Body): readonly (readonly [string, Body])[] {
  const config = isBody(generationConfig) ? generationConfig : {}
  const schema = config['responseJsonSchema'] ?? config['responseSchema']
  const properties = isBody(schema) ? schema['properties'] : undefined
  return isBody(properties)
    ? Object.entries(properties).filter((entry): entry is [string, Body] => isBody(entry[1]))
    : []
}

function some({ type, enum: choices }: Body): unknown {
  if (Array.isArray(choices)) return choices[0]
  return /number|integer/i.test(String(type)) ? 1 : /bool/i.test(String(type)) ? false : 'some'
}
