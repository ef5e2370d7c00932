import { z } from 'zod'
import { DoneResponse } from './page.ts'
import { emptyBody, resourceName, Uuid } from './page.ts'
import { Timestamp } from '../time.ts'
import { User, UserRole } from './user.ts'
import type { Route } from './route.ts'

/** What an operator needs to know about a deployment: `ralph doctor --backend` reads it. */
export const Deployment = z.object({
  version: z.string(),
  /** The clock of the backend, in milliseconds. */
  now: z.number(),
  database: z.object({
    kind: z.enum(['embedded', 'postgres']),
    serverVersion: z.string(),
    sizeBytes: z.number(),
    /** How long a query took. */
    latencyMs: z.number(),
    readOnly: z.boolean(),
    /** Why a write fails; absent: it works. */
    writeProblem: z.object({ text: z.string(), hint: z.string().optional() }).optional(),
    /** The difference between the clocks of the database and the backend. */
    clockSkewMs: z.number(),
    migrations: z.object({ applied: z.int(), known: z.int(), last: z.string() }),
    /** Free space for the embedded database. */
    diskFreeBytes: z.number().optional(),
  }),
  engine: z.object({ replicas: z.int(), waiting: z.int(), oldestDueSeconds: z.number() }),
  machines: z.object({ connected: z.int(), offline: z.int(), pending: z.int() }),
  prompts: z.object({ queued: z.int(), running: z.int(), oldestQueuedSeconds: z.number() }),
})
export type Deployment = z.output<typeof Deployment>

export const StartedDemo = z.object({ agentId: Uuid, sprintId: Uuid })
export type StartedDemo = z.output<typeof StartedDemo>

export const operationRoutes = {
  startDemo: {
    method: 'POST',
    path: '/api/demo',
    creates: true,
    needs: 'admin',
    summary: 'Starts a sprint on a sample project on the computer of the backend, without an agent program or a key',
    body: emptyBody,
    response: StartedDemo,
  },
  readDeployment: {
    method: 'GET',
    path: '/api/deployment',
    needs: 'admin',
    summary: 'The state of the backend, its database, engine and machines',
    response: Deployment,
  },
  countOldHistory: {
    method: 'GET',
    path: '/api/history',
    needs: 'admin',
    summary: 'How many events of agents and ended prompts would be deleted if only this much time were kept',
    query: z.strictObject({ keepMs: z.coerce.number().int().positive().optional() }),
    response: z.object({ keepMs: z.int(), events: z.int(), prompts: z.int() }),
  },
  inviteUser: {
    method: 'POST',
    path: '/api/invitations',
    creates: true,
    needs: 'admin',
    summary: 'Creates an address that signs a user in, once and within three days; a new name becomes a new user',
    body: z.strictObject({ name: resourceName, role: UserRole.optional() }),
    response: z.object({ user: User, address: z.string(), expiresAt: Timestamp }),
  },
  makeDatabaseCopy: {
    method: 'POST',
    path: '/api/database-copies',
    creates: true,
    needs: 'admin',
    summary: 'Copies the embedded database into a folder of the backend, for `ralph backup`',
    body: emptyBody,
    response: z.object({ folder: z.string() }),
  },
} as const satisfies Record<string, Route>

const endpoint = z.url({ protocol: /^https$/ }).max(2000)
const base64url = z
  .string()
  .regex(/^[\w-]+={0,2}$/)
  .max(200)

/** Notifications that a browser shows while no page is open: Web Push (RFC 8030). */
export const pushRoutes = {
  getPushKey: {
    method: 'GET',
    path: '/api/push',
    needs: 'signed-in',
    summary: 'The public key that a browser needs to subscribe to notifications',
    response: z.object({ publicKey: z.string() }),
  },
  subscribeToPush: {
    method: 'POST',
    path: '/api/push/subscribe',
    creates: true,
    needs: 'signed-in',
    summary: 'Sends notifications about questions, ends and limits to a browser of yours',
    body: z.strictObject({ endpoint, keys: z.object({ p256dh: base64url, auth: base64url }) }),
    response: DoneResponse,
  },
  unsubscribeFromPush: {
    method: 'POST',
    path: '/api/push/unsubscribe',
    needs: 'signed-in',
    summary: 'Stops the notifications to a browser of yours',
    body: z.strictObject({ endpoint }),
    response: DoneResponse,
  },
} as const satisfies Record<string, Route>
