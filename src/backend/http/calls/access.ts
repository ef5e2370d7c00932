import { RalphError } from '../../../contract/errors.ts'
import type { RouteAccess } from '../../../contract/fleet/route.ts'
import type { AccessLevel } from '../../../contract/fleet/user.ts'
import type { ApiCaller } from './call.ts'

const levels: readonly AccessLevel[] = ['read', 'write', 'owner']

/**
 * The single authorization rule, used for calls, streams and jobs. `level` is the user's access level on the agent; an
 * admin may do everything, a token at most what its scope allows.
 */
export function isPermitted(who: ApiCaller, needs: RouteAccess, level?: AccessLevel): boolean {
  if (who.user.disabledAt !== undefined) return false
  switch (needs) {
    case 'public':
    case 'signed-in':
      return true
    case 'admin':
      return who.user.role === 'admin' && who.scope === 'admin'
    case 'read':
    case 'write':
    case 'owner':
      return includesLevel(effectiveLevel(who, level), needs) && includesLevel(scopeLevel[who.scope], needs)
  }
}

const scopeLevel = { read: 'read', write: 'write', admin: 'owner' } as const

/** The user's access level on an agent; admins own all agents. */
export const effectiveLevel = ({ user }: ApiCaller, granted: AccessLevel | undefined): AccessLevel | undefined =>
  user.role === 'admin' ? 'owner' : granted

const includesLevel = (level: AccessLevel | undefined, needed: AccessLevel): boolean =>
  level !== undefined && levels.indexOf(level) >= levels.indexOf(needed)

/**
 * Throws NOT_FOUND if the caller may not even read the agent, otherwise FORBIDDEN. `changes`: a read-only token cannot
 * change its owner's data either.
 */
export function assertPermitted(
  who: ApiCaller,
  needs: RouteAccess,
  level: AccessLevel | undefined,
  changes: boolean,
): void {
  if (changes && who.scope === 'read') throw new RalphError('FORBIDDEN', 'this token is read-only')
  if (isPermitted(who, needs, level)) return
  if (needs === 'admin' || isPermitted(who, 'read', level))
    throw new RalphError('FORBIDDEN', 'you are not allowed to do this')
  throw new RalphError('NOT_FOUND', 'not found, or you have no access')
}
