import type { Me } from '../../contract/fleet/user.ts'
import { NewPasskeyResponse, PasskeySignInResponse } from '../../contract/fleet/passkey.ts'
import { api } from './api.ts'

/** Asks the browser for a new passkey and stores its public key. */
export async function addPasskey(name: string): Promise<void> {
  const options = await api.prepareNewPasskey({})
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const credential = await ask(navigator.credentials.create({ publicKey }))
  await api.addPasskey({ name, credential: NewPasskeyResponse.parse(credential.toJSON()) })
}

/** Lets the user choose a passkey of this host. */
export async function signInWithPasskey(): Promise<Me> {
  const options = await api.preparePasskeySignIn({})
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const credential = await ask(navigator.credentials.get({ publicKey }))
  return api.signInWithPasskey({ credential: PasskeySignInResponse.parse(credential.toJSON()) })
}

/** Browsers do not say whether the user cancelled, waited too long or has no passkey. */
async function ask(answer: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await answer.catch(() => null)
  if (credential instanceof PublicKeyCredential) return credential
  throw new Error('The browser gave no passkey. Try again, or use another way to sign in.')
}
