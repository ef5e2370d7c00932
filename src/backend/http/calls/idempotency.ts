import { createHash } from 'node:crypto'
import { and, eq, lt } from 'drizzle-orm'
import { RalphError } from '../../../contract/errors.ts'
import type { RouteName } from '../../../contract/fleet/routes.ts'
import { idempotency } from '../../database/audit.ts'
import type { Database } from '../../database/database.ts'
import type { ApiCaller } from './call.ts'

export type IdempotentCall = {
  readonly who: ApiCaller
  readonly name: RouteName
  readonly key: string
  readonly ids: Readonly<Record<string, string>>
  readonly json: unknown
}

/** Their responses contain a secret that is shown once and never stored. */
export const secretRoutes: readonly RouteName[] = [
  'makeTicket',
  'makeToken',
  'makeWebhook',
  'makeJoinToken',
  'inviteUser',
]

/**
 * Executes a call with an idempotency key once and replays its response. Refuses a key that was used for another call,
 * whose first call is still running, or whose first call died with its backend, because its effects are unknown. A
 * failed call can be repeated.
 */
export type Idempotent = (keyed: IdempotentCall, run: () => Promise<unknown>) => Promise<unknown>

const responseRetentionMs = 24 * 3_600_000
/** A call older than this died with its process: the longest call installs a version on a machine. */
const maxCallMs = 360_000

const interruptedError = () =>
  new RalphError('CALL_INTERRUPTED', 'a call with this key was interrupted; its effects are unknown', {
    hint: 'check whether it took effect; if not, repeat it with another key',
  })

export function createIdempotency({ db }: Database, now: () => number): Idempotent {
  return async ({ who, name, key, ids, json }, run) => {
    if (key.length > 200) throw new RalphError('INVALID_REQUEST', 'an idempotency key may have at most 200 characters')
    const at = now()
    const requestHash = createHash('sha256')
      .update(JSON.stringify([name, ids, json]))
      .digest('hex')
    const mine = and(eq(idempotency.userId, who.user.id), eq(idempotency.key, key))
    await db.delete(idempotency).where(lt(idempotency.createdAt, at - responseRetentionMs))
    const row = { userId: who.user.id, key, requestHash, createdAt: at }
    const [inserted] = await db.insert(idempotency).values(row).onConflictDoNothing().returning()
    if (!inserted) {
      const [before] = await db.select().from(idempotency).where(mine)
      if (before && before.requestHash !== requestHash) {
        throw new RalphError('INVALID_REQUEST', 'this idempotency key was used for another call')
      }
      if (before?.status === null && before.createdAt < at - maxCallMs) throw interruptedError()
      if (before?.status === null || !before)
        throw new RalphError('RATE_LIMITED', 'a call with this key is still running')
      if (secretRoutes.includes(name)) {
        throw new RalphError('INVALID_REQUEST', 'this call has succeeded before, and its secret is shown only once')
      }
      return before.response
    }
    try {
      const response = await run()
      await db
        .update(idempotency)
        .set({ status: 200, response: secretRoutes.includes(name) ? null : response })
        .where(mine)
      return response
    } catch (error) {
      await db.delete(idempotency).where(mine)
      throw error
    }
  }
}
