import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { queryClient } from './data/api.ts'
import {
  agentQuery,
  agentsQuery,
  iterationsQuery,
  machinesQuery,
  outlineQuery,
  promptsQuery,
  questionsQuery,
  sprintQuery,
  sprintsQuery,
  tokensQuery,
  transcriptQuery,
  usageQuery,
} from './data/queries.ts'
import { transcriptKinds } from './data/transcript-window.ts'
import { fleetGroupings } from './words/fleet-groups.ts'
import { fleetOrders } from './words/fleet-order.ts'
import { NotFoundPage } from './shell/not-found.tsx'
import { loadChunk } from './shell/load-chunk.ts'
import { ErrorPage } from './shell/error-page.tsx'
import { AppShell } from './shell/shell.tsx'

/** Invalid parts of a URL are dropped, so that an old link still opens. */
const optional = <T extends z.ZodType>(field: T) => field.optional().catch(undefined)

/** The start dialog can be open over any page; its agent is in the URL. */
const rootRoute = createRootRoute({
  component: AppShell,
  notFoundComponent: NotFoundPage,
  errorComponent: ErrorPage,
  validateSearch: z.object({ start: optional(z.string()) }),
})

const fleetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: z.object({
    show: optional(z.enum(['running', 'needs-you', 'parked', 'failed', 'resting'])),
    q: optional(z.string()),
    sort: optional(z.enum(fleetOrders)),
    machine: optional(z.string()),
    group: optional(z.enum(fleetGroupings)),
  }),
  loader: () => {
    void queryClient.prefetchQuery(agentsQuery)
    void queryClient.prefetchQuery(usageQuery)
  },
  component: lazyRouteComponent(() => loadChunk(() => import('./pages/fleet.tsx')), 'FleetPage'),
})

/** Loaders prefetch what a page shows first, already when the pointer rests on its link. Nothing waits for them. */
const agentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents/$agentId',
  validateSearch: z.object({ tab: optional(z.enum(['queue', 'conversations', 'access'])) }),
  loader: ({ params: { agentId } }) => {
    void queryClient.prefetchQuery(agentQuery(agentId))
    void queryClient.prefetchQuery(sprintsQuery(agentId))
    void queryClient.prefetchQuery(promptsQuery(agentId))
  },
  component: lazyRouteComponent(() => loadChunk(() => import('./pages/agent.tsx')), 'AgentPage'),
})

const sprintRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sprints/$sprintId',
  validateSearch: z.object({
    i: optional(z.int()),
    tab: optional(z.enum(['transcript', 'changes', 'iterations', 'charts', 'hooks'])),
    event: optional(z.string()),
    q: optional(z.string()),
    kind: optional(z.enum(transcriptKinds)),
    /** The event at the top of the transcript. */
    at: optional(z.int()),
    from: optional(z.int()),
    file: optional(z.string()),
  }),
  // Prefetched while the page itself loads; nothing waits for it.
  loaderDeps: ({ search: { i: iteration, q: search, kind, at } }) => ({ iteration, search, kind, at }),
  loader: ({ params: { sprintId }, deps: scope }) => {
    void queryClient.prefetchQuery(sprintQuery(sprintId))
    void queryClient.prefetchQuery(transcriptQuery(sprintId, scope))
    void queryClient.prefetchQuery(iterationsQuery(sprintId))
    void queryClient.prefetchQuery(outlineQuery(sprintId))
  },
  component: lazyRouteComponent(() => loadChunk(() => import('./pages/sprint.tsx')), 'SprintPage'),
})

const inboxRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/needs-you',
  validateSearch: z.object({ question: optional(z.string()) }),
  loader: () => void queryClient.prefetchQuery(questionsQuery),
  component: lazyRouteComponent(() => loadChunk(() => import('./pages/inbox.tsx')), 'InboxPage'),
})

const machinesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/machines',
  loader: () => void queryClient.prefetchQuery(machinesQuery),
  component: lazyRouteComponent(() => loadChunk(() => import('./pages/machines.tsx')), 'MachinesPage'),
})

const usageRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/usage',
  loader: () => void queryClient.prefetchQuery(usageQuery),
  component: lazyRouteComponent(() => loadChunk(() => import('./pages/usage.tsx')), 'UsagePage'),
})

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  validateSearch: z.object({ tab: optional(z.enum(['you', 'people', 'webhooks', 'deliveries', 'audit'])) }),
  loader: () => void queryClient.prefetchQuery(tokensQuery),
  component: lazyRouteComponent(() => loadChunk(() => import('./pages/settings.tsx')), 'SettingsPage'),
})

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: z.object({ refused: optional(z.string()) }),
  component: lazyRouteComponent(() => loadChunk(() => import('./pages/sign-in.tsx')), 'SignInPage'),
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
