import { z } from 'zod'
import { DoneResponse, emptyBody, resourceName } from './page.ts'
import {
  NewPasskeyOptions,
  NewPasskeyResponse,
  Passkey,
  PasskeySignInOptions,
  PasskeySignInResponse,
} from './passkey.ts'
import type { Route } from './route.ts'
import { Me } from './user.ts'

export const passkeyRoutes = {
  listPasskeys: {
    method: 'GET',
    path: '/api/passkeys',
    needs: 'signed-in',
    summary: 'Your passkeys',
    response: z.object({ items: z.array(Passkey) }),
  },
  prepareNewPasskey: {
    method: 'POST',
    path: '/api/passkeys/options',
    needs: 'signed-in',
    summary: 'Returns what a browser needs to create a passkey, for five minutes',
    body: emptyBody,
    response: NewPasskeyOptions,
  },
  addPasskey: {
    method: 'POST',
    path: '/api/passkeys',
    creates: true,
    needs: 'signed-in',
    summary: 'Adds a passkey that the browser has created; you can sign in with it from then on',
    body: z.strictObject({ name: resourceName, credential: NewPasskeyResponse }),
    response: Passkey,
  },
  removePasskey: {
    method: 'DELETE',
    path: '/api/passkeys/{passkeyId}',
    needs: 'signed-in',
    summary: 'Removes one of your passkeys',
    response: DoneResponse,
  },
  preparePasskeySignIn: {
    method: 'POST',
    path: '/api/sign-in/passkey/options',
    needs: 'public',
    summary: 'Returns what a browser needs to sign in with a passkey, for five minutes',
    body: emptyBody,
    response: PasskeySignInOptions,
  },
  signInWithPasskey: {
    method: 'POST',
    path: '/api/sign-in/passkey',
    needs: 'public',
    summary: 'Exchanges the signature of a passkey for a cookie',
    body: z.strictObject({ credential: PasskeySignInResponse }),
    response: Me,
  },
} as const satisfies Record<string, Route>
