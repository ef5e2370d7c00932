import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { queryClient } from './data/api.ts'
import { agentsQuery, iterationsQuery, sprintQuery, transcriptQuery, usageQuery } from './data/queries.ts'
import { NotFoundPage } from './shell/not-found.tsx'
import { part } from './shell/load-chunk.ts'
import { Crashed } from './shell/crashed.tsx'
import { Shell } from './shell/shell.tsx'

/** Invalid parts of a URL are dropped, so that an old link still opens. */
const maybe = <T extends z.ZodType>(field: T) => field.optional().catch(undefined)

/** The start dialog can be open over any page; its agent is in the URL. */
const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: NotFoundPage,
  errorComponent: Crashed,
  validateSearch: z.object({ start: maybe(z.string()) }),
})

const fleetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: z.object({
    show: maybe(z.enum(['running', 'needs-you', 'parked', 'failed', 'resting'])),
    q: maybe(z.string()),
  }),
  loader: () => {
    void queryClient.prefetchQuery(agentsQuery)
    void queryClient.prefetchQuery(usageQuery)
  },
  component: lazyRouteComponent(() => part(() => import('./pages/fleet.tsx')), 'FleetPage'),
})

const agentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents/$agentId',
  validateSearch: z.object({ tab: maybe(z.enum(['queue', 'sprints', 'conversations', 'notes', 'access'])) }),
  component: lazyRouteComponent(() => part(() => import('./pages/agent.tsx')), 'AgentPage'),
})

const sprintRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sprints/$sprintId',
  validateSearch: z.object({
    i: maybe(z.int()),
    tab: maybe(z.enum(['transcript', 'changes', 'iterations', 'charts', 'hooks'])),
    event: maybe(z.string()),
    q: maybe(z.string()),
    kind: maybe(z.enum(['text', 'tool', 'other'])),
    from: maybe(z.int()),
    file: maybe(z.string()),
  }),
  // Prefetched while the page itself loads; nothing waits for it.
  loaderDeps: ({ search: { i: iteration, q: search, kind } }) => ({ iteration, search, kind }),
  loader: ({ params: { sprintId }, deps: scope }) => {
    void queryClient.prefetchQuery(sprintQuery(sprintId))
    void queryClient.prefetchQuery(transcriptQuery(sprintId, scope))
    void queryClient.prefetchQuery(iterationsQuery(sprintId))
  },
  component: lazyRouteComponent(() => part(() => import('./pages/sprint.tsx')), 'SprintPage'),
})

const inboxRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/needs-you',
  validateSearch: z.object({ question: maybe(z.string()) }),
  component: lazyRouteComponent(() => part(() => import('./pages/inbox.tsx')), 'InboxPage'),
})

const machinesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/machines',
  component: lazyRouteComponent(() => part(() => import('./pages/machines.tsx')), 'MachinesPage'),
})

const usageRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/usage',
  component: lazyRouteComponent(() => part(() => import('./pages/usage.tsx')), 'UsagePage'),
})

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  validateSearch: z.object({ tab: maybe(z.enum(['you', 'people', 'webhooks', 'deliveries', 'audit'])) }),
  component: lazyRouteComponent(() => part(() => import('./pages/settings.tsx')), 'SettingsPage'),
})

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: lazyRouteComponent(() => part(() => import('./pages/sign-in.tsx')), 'SignInPage'),
})

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    fleetRoute,
    agentRoute,
    sprintRoute,
    inboxRoute,
    machinesRoute,
    usageRoute,
    settingsRoute,
    signInRoute,
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
