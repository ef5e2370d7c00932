import { z } from 'zod'
import { DoneResponse } from './page.ts'
import type { Route } from './route.ts'

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
