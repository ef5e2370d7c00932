import { adminRoutes } from './admin-routes.ts'
import { agentRoutes, promptRoutes } from './agent-routes.ts'
import { budgetRoutes } from './budget-routes.ts'
import { machineRoutes } from './machine-routes.ts'
import { operationRoutes, pushRoutes } from './operation-routes.ts'
import { passkeyRoutes } from './passkey-routes.ts'
import { sprintRoutes } from './sprint-routes.ts'

/** The whole API. */
export const routes = {
  ...adminRoutes,
  ...agentRoutes,
  ...promptRoutes,
  ...sprintRoutes,
  ...machineRoutes,
  ...operationRoutes,
  ...pushRoutes,
  ...budgetRoutes,
  ...passkeyRoutes,
}
export type Routes = typeof routes
export type RouteName = keyof Routes
