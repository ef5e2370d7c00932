import type { Refusal, TokenCounts } from './turn.ts'

/** What the model says, with calls in the format of the program that asked. */
export type Message = {
  readonly text: string | undefined
  readonly calls: readonly ToolCall[]
  readonly usage: TokenCounts
}

/** `input` is a text for tools that take no JSON. */
export type ToolCall = { readonly name: string; readonly input: Readonly<Record<string, unknown>> | string }

export type ServerSentEvent = { readonly event?: string; readonly data: unknown }

/** A parsed request. */
export type ModelCall = { readonly path: string; readonly body: JsonBody }
export type JsonBody = Readonly<Record<string, unknown>>

/** The wire format of one API. */
export type Dialect = {
  readonly name: string
  readonly answers: (path: string) => boolean
  /** Names of the tools on offer; requests without tools (titles, routing) are not turns of the agent. */
  readonly tools: (body: JsonBody) => readonly string[]
  /** A streamed answer. */
  readonly stream: (message: Message, call: ModelCall) => readonly ServerSentEvent[]
  /** The same, not streamed; absent if no program asks for it. */
  readonly whole?: (message: Message, call: ModelCall) => unknown
  /** The answer to a request that is not a turn. */
  readonly aside?: (call: ModelCall) => string
  readonly error: (refusal: Refusal) => unknown
}

let count = 0

export const newId = (prefix: string): string => `${prefix}_${++count}`

/** Small enough that an answer has more than one chunk. */
export const pieces = (text: string): readonly string[] => text.match(/[\s\S]{1,40}/g) ?? []

export const listObjects = (value: unknown): readonly JsonBody[] => (Array.isArray(value) ? value.filter(isBody) : [])

export const isBody = (value: unknown): value is JsonBody => typeof value === 'object' && value !== null

export const listNames = (value: unknown): readonly string[] =>
  listObjects(value).flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
