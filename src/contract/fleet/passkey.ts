import { z } from 'zod'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'

export const Passkey = z.object({
  id: Uuid,
  name: z.string(),
  createdAt: Timestamp,
  lastUsedAt: Timestamp.optional(),
})
export type Passkey = z.output<typeof Passkey>

const base64 = z.string().max(20_000)
const transports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const
const verification = z.enum(['required', 'preferred', 'discouraged'])
const credentialType = z.literal('public-key')

/** What a browser needs to create a passkey: the JSON form of WebAuthn, which `PublicKeyCredential` parses. */
export const NewPasskeyOptions = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ alg: z.number(), type: credentialType })),
  timeout: z.number(),
  excludeCredentials: z.array(
    z.object({ id: z.string(), type: credentialType, transports: z.array(z.enum(transports)) }),
  ),
  authenticatorSelection: z.object({ residentKey: verification, userVerification: verification }),
})
export type NewPasskeyOptions = z.output<typeof NewPasskeyOptions>

/** What a browser needs to sign in with a passkey. */
export const PasskeySignInOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.number(),
  userVerification: verification,
})
export type PasskeySignInOptions = z.output<typeof PasskeySignInOptions>

/** Outputs of extensions: we ask for none and ignore those of the browser. */
const ignored = z.unknown().transform(() => ({}))

const CredentialFields = z.object({
  id: base64,
  rawId: base64,
  type: credentialType,
  clientExtensionResults: ignored,
})

/** `PublicKeyCredential.toJSON()` of a new passkey. */
export const NewPasskeyResponse = CredentialFields.extend({
  response: z.object({
    clientDataJSON: base64,
    attestationObject: base64,
    transports: z.array(z.enum(transports)).max(10).default([]),
  }),
})
export type NewPasskeyResponse = z.output<typeof NewPasskeyResponse>

/** `PublicKeyCredential.toJSON()` of a sign-in. */
export const PasskeySignInResponse = CredentialFields.extend({
  response: z.object({
    clientDataJSON: base64,
    authenticatorData: base64,
    signature: base64,
  }),
})
export type PasskeySignInResponse = z.output<typeof PasskeySignInResponse>
