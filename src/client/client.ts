import { z } from 'zod'
import { RalphError, type ErrorCode } from '../contract/errors.ts'
import { toRalphError, ProblemDetails } from '../contract/fleet/problem.ts'
import { buildPath, type PathIds, type Route } from '../contract/fleet/route.ts'
import { routes, type RouteName, type Routes } from '../contract/fleet/routes.ts'

type RouteIds<N extends RouteName> = { readonly [K in PathIds<Routes[N]['path']>]: string }
type RouteQuery<N extends RouteName> = Routes[N] extends { query: infer Q extends z.ZodType }
  ? AllowUndefined<z.output<Q>>
  : {}
type RouteBody<N extends RouteName> = Routes[N] extends { body: infer B extends z.ZodType }
  ? AllowUndefined<z.input<B>>
  : {}
/** Lets callers pass `undefined` for optional fields, which `exactOptionalPropertyTypes` would refuse. */
type AllowUndefined<T> = T extends Record<string, never> ? {} : { readonly [K in keyof T]?: T[K] | undefined } & T

/** Path IDs, query and body of a call as one flat object. No route uses the same name twice. */
export type CallArguments<N extends RouteName> = RouteIds<N> & Partial<RouteQuery<N>> & RouteBody<N>
export type RouteResponse<N extends RouteName> = z.output<Routes[N]['response']>

export type CallOptions = {
  readonly signal?: AbortSignal | undefined
  /** The backend executes calls with the same key once. */
  readonly idempotencyKey?: string | undefined
  /** The `rev` the caller has read; the call is refused if the row has changed since. */
  readonly revision?: number | undefined
}

export type Client = {
  readonly [N in Exclude<RouteName, 'events'>]: (
    input: CallArguments<N>,
    options?: CallOptions,
  ) => Promise<RouteResponse<N>>
}

export type ClientOptions = {
  /** Defaults to the page's own origin. */
  readonly baseUrl?: string
  readonly token?: string | undefined
  readonly fetch?: typeof fetch
}

/** The API as typed functions. A problem response becomes the `RalphError` that the backend threw. */
export function createClient(options: ClientOptions = {}): Client {
  const names = Object.keys(routes).filter((name): name is Exclude<RouteName, 'events'> => name !== 'events')
  const calls = names.map((name) => [
    name,
    (input: Record<string, unknown>, how: CallOptions = {}) => sendCall(name, input, { ...options, ...how }),
  ])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one function per name, as the type says
  return Object.fromEntries(calls) as Client
}

async function sendCall(name: RouteName, input: Record<string, unknown>, options: ClientOptions & CallOptions) {
  const { method, response } = routes[name]
  const { fetch: send = fetch, idempotencyKey = method === 'POST' ? createKey() : undefined } = options
  const request = {
    method,
    headers: callHeaders({ ...options, idempotencyKey }, method),
    credentials: 'same-origin',
    ...(options.signal && { signal: options.signal }),
    ...('body' in routes[name] && { body: JSON.stringify(callBody(name, input)) }),
  } as const
  const url = callUrl(name, input, options.baseUrl)
  const answer = await send(url, request)
    .catch((error: unknown) => {
      // The key makes it safe to repeat a call whose effect is unknown.
      if (isClosedSocket(error) && (method === 'GET' || idempotencyKey !== undefined)) return send(url, request)
      throw error
    })
    .catch(backendUnreachable)
  const json: unknown = await answer.json().catch(() => undefined)
  if (!answer.ok) throw parseProblem(json, answer.status)
  return z.decode<z.ZodType>(response, json)
}

/** `crypto.randomUUID` exists only on pages that come from this computer or over https. */
const createKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

const closedSocketCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** The backend closes a connection that was idle for a while, perhaps at the moment in which a call reuses it. */
function isClosedSocket(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && closedSocketCodes.has(error.code)) || isClosedSocket(error.cause)
}

function callUrl(name: RouteName, input: Record<string, unknown>, baseUrl = ''): string {
  const { path } = routes[name]
  const ids = Object.fromEntries(Object.entries(input).map(([key, value]) => [key, formatQueryValue(value)]))
  const query = new URLSearchParams()
  for (const key of pickFields(name, 'query')) {
    const value = input[key]
    if (value !== undefined) query.set(key, formatQueryValue(value))
  }
  return `${baseUrl}${buildPath(path, ids)}${query.size > 0 ? `?${query.toString()}` : ''}`
}

const formatQueryValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const callBody = (name: RouteName, input: Record<string, unknown>) =>
  Object.fromEntries(pickFields(name, 'body').map((key) => [key, input[key]]))

function pickFields(name: RouteName, part: 'query' | 'body'): string[] {
  const route: Route = routes[name]
  const schema = route[part]
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

function callHeaders({ token, idempotencyKey, revision }: ClientOptions & CallOptions, method: string) {
  return {
    accept: 'application/json',
    ...(method !== 'GET' && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(revision !== undefined && { 'if-match': `"${revision}"` }),
  }
}

function backendUnreachable(cause: unknown): never {
  if (cause instanceof RalphError || (cause instanceof Error && cause.name === 'AbortError')) throw cause
  throw new RalphError('BACKEND_UNREACHABLE', 'the backend is unreachable', { cause })
}

/** A proxy answers with these statuses when the backend behind it does not respond. */
const proxyErrorCodes = new Map<number, ErrorCode>([
  [429, 'RATE_LIMITED'],
  [502, 'BACKEND_UNREACHABLE'],
  [503, 'BACKEND_UNREACHABLE'],
  [504, 'BACKEND_UNREACHABLE'],
])

function parseProblem(json: unknown, status: number): RalphError {
  const problem = ProblemDetails.safeParse(json)
  if (problem.success) return toRalphError(problem.data)
  return new RalphError(proxyErrorCodes.get(status) ?? 'INTERNAL', `the backend answered ${status}`)
}
