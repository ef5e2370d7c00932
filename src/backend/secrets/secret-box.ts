import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { RalphError } from '../../contract/errors.ts'

/** Encrypts secrets that must be readable again, so that a copy of the database alone reveals none of them. */
export interface SecretBox {
  /** `purpose` is authenticated too: a sealed value of one column is useless in another. */
  readonly seal: (text: string, purpose: SecretPurpose) => string
  /** Returns text that was stored before there was a key as it is. Throws SECRETS_KEY_WRONG. */
  readonly open: (stored: string, purpose: SecretPurpose) => string
  /** Whether `seal` would change this stored text. */
  readonly isOpen: (stored: string) => boolean
}

export type SecretPurpose = 'authority key' | 'webhook secret' | 'push key'

const prefix = 'sealed1.'
const minKeyLength = 32

/** Without a key, secrets are stored as they are. Throws SECRETS_KEY_WRONG if the key is too short to be one. */
export function createSecretBox(keyText: string | undefined): SecretBox {
  if (keyText === undefined) return createPlainBox()
  const text = keyText.trim()
  if (text.length < minKeyLength) {
    throw wrongKey(`the key has ${text.length} characters, and must have at least ${minKeyLength}`)
  }
  const key = Buffer.from(hkdfSync('sha256', text, '', 'ralph secrets at rest', 32))
  return {
    isOpen: (stored) => !stored.startsWith(prefix),
    seal: (plain, purpose) => {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${prefix}${sealed.toString('base64url')}`
    },
    open: (stored, purpose) => (stored.startsWith(prefix) ? decrypt(stored, key, purpose) : stored),
  }
}

const createPlainBox = (): SecretBox => ({
  isOpen: () => false,
  seal: (text) => text,
  open: (stored, purpose) => {
    if (!stored.startsWith(prefix)) return stored
    throw wrongKey(`the ${purpose} in the database is encrypted, and no key was given`)
  },
})

function decrypt(stored: string, key: Buffer, purpose: SecretPurpose): string {
  const bytes = Buffer.from(stored.slice(prefix.length), 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8')
  } catch {
    throw wrongKey(`the ${purpose} in the database was encrypted with another key`)
  }
}

const wrongKey = (message: string): RalphError =>
  new RalphError('SECRETS_KEY_WRONG', message, {
    hint: 'set RALPH_SECRETS_KEY, or RALPH_SECRETS_KEY_FILE to the file that held it',
  })
