import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { anthropic } from './anthropic.ts'
import { type ModelCall, type JsonBody, type Dialect, isBody, type Message } from './dialect.ts'
import { gemini } from './gemini.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'
import { toolCall } from './tools.ts'
import { type Answer, defaultUsage, type Fault, type Refusal, type Turn } from './turn.ts'

const dialects: readonly Dialect[] = [anthropic, openaiResponses, openaiChat, gemini]

/** One request of an agent for its next turn. */
export type ModelRequest = {
  readonly at: number
  /** The whole request as text: everything that the model received is somewhere in it. */
  readonly text: string
  readonly turn: Turn
}

export type StubModel = {
  readonly url: string
  /** In the order of their arrival, without those that are not turns (titles, routing). */
  readonly requests: readonly ModelRequest[]
  /** Requests that the server did not understand: a test that passes in spite of them is lucky. */
  readonly surprises: readonly string[]
  readonly close: () => Promise<void>
}

/**
 * A scripted model: one turn per request, and the last one repeatedly. Each client gets the answer in the format of the API that
 * it called.
 */
export async function startStubModel(turns: readonly Turn[]): Promise<StubModel> {
  const requests: ModelRequest[] = []
  const surprises: string[] = []
  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      surprises.push(String(error))
      response.destroy()
    })
  })

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? '/', 'http://stub').pathname
    const dialect = dialects.find(({ answers }) => answers(path))
    if (request.method !== 'POST' || !dialect) return sendJson(response, 404, { error: { message: 'no such thing' } })
    const body = await json(request)
    const call = { path, body: isBody(body) ? body : {} }
    const offered = dialect.tools(call.body)
    if (offered.length === 0) return answer(response, aside(dialect, call), { dialect, asked: call })
    const turn = turns[Math.min(requests.length, turns.length - 1)] ?? { text: '' }
    requests.push({ at: Date.now(), text: JSON.stringify(call.body), turn })
    if ('status' in turn) return refuse(response, turn, dialect)
    const message = 'midway' in turn ? cutShort : formatMessage(turn, offered)
    return answer(response, message, { dialect, asked: call, ...('midway' in turn && { fault: turn }) })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port, not on a pipe
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    surprises,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const cutShort: Message = { text: 'I am going to say something and then '.repeat(3), calls: [], usage: defaultUsage }

const formatMessage = ({ text, calls = [], usage = defaultUsage }: Answer, offered: readonly string[]): Message => ({
  text,
  calls: calls.map((call) => toolCall(call, offered)),
  usage,
})

const aside = (dialect: Dialect, call: ModelCall): Message => ({
  text: dialect.aside?.(call) ?? 'A title',
  calls: [],
  usage: defaultUsage,
})

function refuse(response: ServerResponse, refusal: Refusal, dialect: Dialect): void {
  sendJson(response, refusal.status, refusal.body ?? dialect.error(refusal), refusal.headers)
}

type Context = { readonly dialect: Dialect; readonly asked: ModelCall; readonly fault?: Fault }

/** A fault happens after the text has begun. */
function answer(response: ServerResponse, message: Message, { dialect, asked, fault }: Context): void {
  if (isWhole(asked) && dialect.whole) {
    if (!fault) sendJson(response, 200, dialect.whole(message, asked))
    else if (fault.midway === 'drop') response.destroy()
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = dialect.stream(message, asked)
  for (const { event, data } of fault ? events.slice(0, 3) : events) {
    const line = typeof data === 'string' ? data : JSON.stringify(data)
    response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${line}\n\n`)
  }
  if (!fault) response.end()
  // Finish the writes first, so that the client receives what came before the break.
  else if (fault.midway === 'drop') response.write('', () => response.socket?.resetAndDestroy())
}

const isWhole = ({ path, body }: ModelCall): boolean =>
  path.includes(':') ? path.endsWith(':generateContent') : body['stream'] !== true

function sendJson(response: ServerResponse, status: number, body: unknown, headers: JsonBody = {}): void {
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  response.writeHead(status, { 'content-type': 'application/json', ...texts })
  response.end(JSON.stringify(body))
}
