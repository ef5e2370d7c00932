import { RalphError } from '../../../contract/errors.ts'
import { doneResponse } from '../../../contract/fleet/page.ts'
import type { AppDeps } from '../app.ts'
import type { ApiCaller, RouteHandlers } from '../calls/call.ts'
import { requirePasskeys, type Passkeys } from '../passkeys.ts'

export const passkeyHandlers = (
  find: AppDeps['passkeys'],
): Pick<RouteHandlers, 'listPasskeys' | 'prepareNewPasskey' | 'addPasskey' | 'removePasskey'> => ({
  listPasskeys: async ({ who }) => ({ items: (await find()?.list(who.user.id)) ?? [] }),
  prepareNewPasskey: ({ who }) => requireForNew(find, who).prepareNew(who.user),
  addPasskey: ({ who, body: { name, credential } }) => requireForNew(find, who).add(who.user.id, name, credential),
  removePasskey: async ({ who, ids }) => {
    await requireForNew(find, who).remove(who.user.id, ids.passkeyId)
    return doneResponse
  },
})

/** A passkey signs in with all rights of its user, so a credential with fewer rights must not create one. */
function requireForNew(find: AppDeps['passkeys'], { by, scope }: ApiCaller): Passkeys {
  if (by === 'token' || scope !== 'admin')
    throw new RalphError('FORBIDDEN', 'a token or a limited session cannot change passkeys', {
      hint: 'sign in on the page',
    })
  return requirePasskeys(find)
}
