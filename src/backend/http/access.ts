import { RalphError } from '../../contract/errors.ts'
import type { Needs } from '../../contract/fleet/route.ts'
import type { AccessLevel } from '../../contract/fleet/user.ts'
import type { Who } from './call.ts'

const levels: readonly AccessLevel[] = ['read', 'write', 'owner']

/**
 * The one function that says who may do what, used for calls, for streams and for jobs. `level` is what the user was given on
 * the agent in question; an admin may do everything, a token never more than its scope.
 */
export function can(who: Who, needs: Needs, level?: AccessLevel): boolean {
  if (who.user.disabledAt !== undefined) return false
  switch (needs) {
    case 'nobody':
    case 'signed-in':
      return true
    case 'admin':
      return who.user.role === 'admin' && who.scope === 'admin'
    case 'read':
    case 'write':
    case 'owner':
      return reaches(levelOf(who, level), needs) && reaches(scopeLevel[who.scope], needs)
  }
}

const scopeLevel = { read: 'read', write: 'write', admin: 'owner' } as const

/** What somebody has on an agent: an admin owns them all. */
export const levelOf = ({ user }: Who, given: AccessLevel | undefined): AccessLevel | undefined =>
  user.role === 'admin' ? 'owner' : given

const reaches = (level: AccessLevel | undefined, needed: AccessLevel): boolean =>
  level !== undefined && levels.indexOf(level) >= levels.indexOf(needed)

/**
 * Who may not even read something is told that it is not there; who may read it is told that this is not allowed. `changes`: a
 * token that may only read cannot change anything of its owner either.
 */
export function allow(who: Who, needs: Needs, level: AccessLevel | undefined, changes: boolean): void {
  if (changes && who.scope === 'read') throw new RalphError('FORBIDDEN', 'this token may only read')
  if (can(who, needs, level)) return
  if (needs === 'admin' || can(who, 'read', level)) throw new RalphError('FORBIDDEN', 'you may not do this')
  throw new RalphError('NOT_FOUND', 'there is nothing here, or it is not for you')
}
