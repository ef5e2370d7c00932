import { z } from 'zod'
import { RalphError, type ErrorCode } from '../contract/errors.ts'
import { errorOf, Problem } from '../contract/fleet/problem.ts'
import { pathWith, type IdsIn, type Route } from '../contract/fleet/route.ts'
import { routes, type RouteName, type Routes } from '../contract/fleet/routes.ts'

type Ids<N extends RouteName> = { readonly [K in IdsIn<Routes[N]['path']>]: string }
type Query<N extends RouteName> = Routes[N] extends { query: infer Q extends z.ZodType } ? Given<z.output<Q>> : {}
type Body<N extends RouteName> = Routes[N] extends { body: infer B extends z.ZodType } ? Given<z.input<B>> : {}
/** Lets callers pass `undefined` for optional fields, which `exactOptionalPropertyTypes` would refuse. */
type Given<T> = T extends Record<string, never> ? {} : { readonly [K in keyof T]?: T[K] | undefined } & T

/** Path IDs, query and body of a call as one flat object. No route uses the same name twice. */
export type Arguments<N extends RouteName> = Ids<N> & Partial<Query<N>> & Body<N>
export type Answer<N extends RouteName> = z.output<Routes[N]['response']>

export type CallOptions = {
  readonly signal?: AbortSignal | undefined
  /** The backend executes calls with the same key once. */
  readonly idempotencyKey?: string | undefined
  /** The `rev` the caller has read; the call is refused if the row has changed since. */
  readonly revision?: number | undefined
}

export type Client = {
  readonly [N in Exclude<RouteName, 'events'>]: (given: Arguments<N>, options?: CallOptions) => Promise<Answer<N>>
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
    (given: Record<string, unknown>, how: CallOptions = {}) => call(name, given, { ...options, ...how }),
  ])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one function per name, as the type says
  return Object.fromEntries(calls) as Client
}

async function call(name: RouteName, given: Record<string, unknown>, options: ClientOptions & CallOptions) {
  const { method, response } = routes[name]
  const send = options.fetch ?? fetch
  const answer = await send(urlOf(name, given, options.baseUrl), {
    method,
    headers: headersOf(options, method),
    credentials: 'same-origin',
    ...(options.signal && { signal: options.signal }),
    ...('body' in routes[name] && { body: JSON.stringify(bodyOf(name, given)) }),
  }).catch(unreachable)
  const json: unknown = await answer.json().catch(() => undefined)
  if (!answer.ok) throw problemIn(json, answer.status)
  return z.decode<z.ZodType>(response, json)
}

function urlOf(name: RouteName, given: Record<string, unknown>, baseUrl = ''): string {
  const { path } = routes[name]
  const ids = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, textOf(value)]))
  const query = new URLSearchParams()
  for (const key of fieldsOf(name, 'query')) {
    const value = given[key]
    if (value !== undefined) query.set(key, textOf(value))
  }
  return `${baseUrl}${pathWith(path, ids)}${query.size > 0 ? `?${query.toString()}` : ''}`
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const bodyOf = (name: RouteName, given: Record<string, unknown>) =>
  Object.fromEntries(fieldsOf(name, 'body').map((key) => [key, given[key]]))

function fieldsOf(name: RouteName, part: 'query' | 'body'): string[] {
  const route: Route = routes[name]
  const schema = route[part]
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

function headersOf({ token, idempotencyKey, revision }: ClientOptions & CallOptions, method: string) {
  return {
    accept: 'application/json',
    ...(method !== 'GET' && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(revision !== undefined && { 'if-match': `"${revision}"` }),
  }
}

function unreachable(cause: unknown): never {
  if (cause instanceof Error && cause.name === 'AbortError') throw cause
  throw new RalphError('BACKEND_UNREACHABLE', 'the backend is unreachable', { cause })
}

/** A proxy answers with these statuses when the backend behind it does not respond. */
const codes = new Map<number, ErrorCode>([
  [429, 'RATE_LIMITED'],
  [502, 'BACKEND_UNREACHABLE'],
  [503, 'BACKEND_UNREACHABLE'],
  [504, 'BACKEND_UNREACHABLE'],
])

function problemIn(json: unknown, status: number): RalphError {
  const problem = Problem.safeParse(json)
  if (problem.success) return errorOf(problem.data)
  return new RalphError(codes.get(status) ?? 'INTERNAL', `the backend answered ${status}`)
}
