import type { z } from 'zod'
import type { AccessLevel, Me, TokenScope } from '../../../contract/fleet/user.ts'
import type { PathIds } from '../../../contract/fleet/route.ts'
import type { RouteName, Routes } from '../../../contract/fleet/routes.ts'

/** An authenticated caller. A token may have fewer rights than its owner. */
export type ApiCaller = {
  readonly user: Me['user']
  readonly by: Me['signedInBy']
  readonly scope: z.output<typeof TokenScope>
}

type RoutePart<N extends RouteName, P extends 'query' | 'body'> = Routes[N] extends {
  readonly [K in P]: infer S extends z.ZodType
}
  ? z.output<S>
  : {}

/** One call, parsed and authorized. */
export type Call<N extends RouteName> = {
  readonly ids: { readonly [K in PathIds<Routes[N]['path']>]: string }
  readonly query: RoutePart<N, 'query'>
  readonly body: RoutePart<N, 'body'>
  readonly who: ApiCaller
  /** The caller's access level on the agent in the path. */
  readonly level: AccessLevel | undefined
  /** If-Match. */
  readonly revision: number | undefined
}

export type RouteHandler<N extends RouteName> = (call: Call<N>) => Promise<z.output<Routes[N]['response']>>

/** The app handles these itself: they need no user, set a cookie, or stream. */
export type AppRoute = 'signIn' | 'signOut' | 'waysToSignIn' | 'events' | 'preparePasskeySignIn' | 'signInWithPasskey'

/** Handlers of all other routes. */
export type RouteHandlers = {
  readonly [N in Exclude<RouteName, AppRoute>]: RouteHandler<N>
}
