import { join } from 'node:path'
import { redactor, secretsIn, secretsInDotenv, type Redact, type Secret } from '../../contract/redact.ts'
import { fileSignature, readTextSyncIfThere } from '../../platform/files/files.ts'
import type { Redactor } from '../../runtime/redacted.ts'

const files = ['.env', '.env.local', '.env.development', '.env.test', '.env.production', '.env.development.local']

/** Redacts the secrets of an environment, of the project's current `.env` files, and any key with a known format. */
export function redactorFor(project: string, env: Readonly<Record<string, string | undefined>>): Redactor {
  const ofUser = secretsIn(env)
  let known: { readonly signature: string; readonly redact: Redact } | undefined
  return () => {
    const paths = files.map((name) => join(project, name))
    const signature = paths.map((path) => fileSignature(path) ?? '').join('\n')
    if (known?.signature !== signature) {
      known = { signature, redact: redactor([...ofUser, ...paths.flatMap((path) => secretsInFile(path))]) }
    }
    return known.redact
  }
}

/** An unreadable file cannot leak either. */
function secretsInFile(path: string): Secret[] {
  try {
    return secretsInDotenv(readTextSyncIfThere(path) ?? '')
  } catch {
    return []
  }
}
