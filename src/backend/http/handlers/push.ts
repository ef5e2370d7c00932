import { and, asc, eq } from 'drizzle-orm'
import { errorMessage, RalphError } from '../../../contract/errors.ts'
import { doneResponse } from '../../../contract/fleet/page.ts'
import type { Database } from '../../database/database.ts'
import { pushSubscriptions } from '../../database/push.ts'
import { readPushKey } from '../../notifications/push.ts'
import { assertPushTarget } from '../../notifications/web-push.ts'
import type { SecretBox } from '../../secrets/secret-box.ts'
import type { RouteHandlers } from '../calls/call.ts'

type PushHandlerDeps = {
  readonly database: Database
  readonly box: SecretBox
  readonly now: () => number
  readonly newId: () => string
}

/** Browsers of one user; a forgotten one is replaced by a new one. */
const maxSubscriptions = 20

export const pushHandlers = ({
  database,
  box,
  now,
  newId,
}: PushHandlerDeps): Pick<RouteHandlers, 'getPushKey' | 'subscribeToPush' | 'unsubscribeFromPush'> => ({
  getPushKey: async () => ({ publicKey: (await readPushKey({ database, box })).publicKey }),
  subscribeToPush: async ({ who, body: { endpoint, keys } }) => {
    try {
      assertPushTarget({ endpoint, ...keys })
    } catch (error) {
      throw new RalphError('INVALID_REQUEST', `these are no keys of a browser: ${errorMessage(error)}`)
    }
    const userId = who.user.id
    await database.transaction(async ({ db }) => {
      const mine = eq(pushSubscriptions.userId, userId)
      const known = await db.select().from(pushSubscriptions).where(mine).orderBy(asc(pushSubscriptions.createdAt))
      for (const { id } of known.slice(0, Math.max(0, known.length - maxSubscriptions + 1)))
        await db.delete(pushSubscriptions).where(eq(pushSubscriptions.id, id))
      const row = { id: newId(), userId, endpoint, ...keys, createdAt: now() }
      const { id: _id, ...set } = row
      // The same browser: perhaps another user has signed in there.
      await db.insert(pushSubscriptions).values(row).onConflictDoUpdate({ target: pushSubscriptions.endpoint, set })
    })
    return doneResponse
  },
  unsubscribeFromPush: async ({ who, body: { endpoint } }) => {
    const mine = and(eq(pushSubscriptions.endpoint, endpoint), eq(pushSubscriptions.userId, who.user.id))
    await database.db.delete(pushSubscriptions).where(mine)
    return doneResponse
  },
})
