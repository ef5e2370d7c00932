import type { z } from 'zod'

/** Who may call a route. `read`, `write` and `owner` are levels on the agent that the path's id belongs to. */
export type Needs = 'nobody' | 'signed-in' | 'read' | 'write' | 'owner' | 'admin'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * One call of the API. Server, client, OpenAPI, the matrix of guards and the matrix of roles are all made from these rows, so
 * they cannot disagree.
 */
export type Route = {
  readonly method: Method
  /** `{name}` stands for an id. */
  readonly path: string
  readonly needs: Needs
  readonly summary: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly response: z.ZodType
  /** The answer carries an ETag, or the call wants one in If-Match: a write that was based on something older is refused. */
  readonly revision?: 'given' | 'wanted'
}

/** The names of the ids in a path. */
export type IdsIn<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | IdsIn<Rest> : never

export const idsIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** `/api/agents/{agentId}` with the ids put in. */
export const pathWith = (path: string, ids: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ''))
