import { adminRoutes } from './admin-routes.ts'
import { agentRoutes, promptRoutes } from './agent-routes.ts'
import { machineRoutes } from './machine-routes.ts'
import { sprintRoutes } from './sprint-routes.ts'

/** The whole API. */
export const routes = { ...adminRoutes, ...agentRoutes, ...promptRoutes, ...sprintRoutes, ...machineRoutes }
export type Routes = typeof routes
export type RouteName = keyof Routes
