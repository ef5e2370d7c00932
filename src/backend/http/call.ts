import type { z } from 'zod'
import type { AccessLevel, Me, TokenScope } from '../../contract/fleet/user.ts'
import type { IdsIn } from '../../contract/fleet/route.ts'
import type { RouteName, Routes } from '../../contract/fleet/routes.ts'

/** An authenticated caller. A token may have fewer rights than its owner. */
export type Who = {
  readonly user: Me['user']
  readonly by: Me['signedInBy']
  readonly scope: z.output<typeof TokenScope>
}

type Part<N extends RouteName, P extends 'query' | 'body'> = Routes[N] extends {
  readonly [K in P]: infer S extends z.ZodType
}
  ? z.output<S>
  : {}

/** One call, parsed and authorized. */
export type Call<N extends RouteName> = {
  readonly ids: { readonly [K in IdsIn<Routes[N]['path']>]: string }
  readonly query: Part<N, 'query'>
  readonly body: Part<N, 'body'>
  readonly who: Who
  /** The caller's access level on the agent in the path. */
  readonly level: AccessLevel | undefined
  /** If-Match. */
  readonly revision: number | undefined
}

export type Handler<N extends RouteName> = (call: Call<N>) => Promise<z.output<Routes[N]['response']>>

/** Handlers of all routes, except sign-in, sign-out and the event stream, which the app handles itself. */
export type Handlers = {
  readonly [N in Exclude<RouteName, 'signIn' | 'signOut' | 'waysToSignIn' | 'events'>]: Handler<N>
}
