import type { z } from 'zod'

/**
 * Who may call a route. `read`, `write` and `owner` are access levels on the agent that the ID in the path belongs to.
 */
export type RouteAccess = 'public' | 'signed-in' | 'read' | 'write' | 'owner' | 'admin'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * One call of the API. The server, the client, the OpenAPI document and the tests of guards and roles are all derived
 * from these rows, so they cannot disagree.
 */
export type Route = {
  readonly method: Method
  /** `{name}` stands for an id. */
  readonly path: string
  readonly needs: RouteAccess
  /**
   * What the caller also needs on the machine in the path, or of the agent in the path. `run`: a grant to run agents
   * there. `manage`: to own the machine, or to be an admin.
   */
  readonly machine?: 'run' | 'manage'
  readonly summary: string
  /** Answers with 201: what it returns did not exist before. */
  readonly creates?: true
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly response: z.ZodType
  /**
   * `given`: the response carries an ETag. `wanted`: the request must send one in If-Match, and is refused if the row
   * has changed since.
   */
  readonly revision?: 'given' | 'wanted'
}

/** The names of the IDs in a path. */
export type PathIds<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | PathIds<Rest> : never

export const listPathIds = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** Inserts IDs into a path such as `/api/agents/{agentId}`. */
export const buildPath = (path: string, ids: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ''))
