import { join } from 'node:path'
import {
  createRedactor,
  findEnvSecrets,
  parseDotenvSecrets,
  type Redact,
  type Secret,
} from '../../contract/secrets/redact.ts'
import { fileSignature, readTextSyncIfExists } from '../../platform/files/files.ts'
import type { RedactFactory } from '../../runtime/redact-ports.ts'

const dotenvFiles = ['.env', '.env.local', '.env.development', '.env.test', '.env.production', '.env.development.local']

/** Redacts the secrets of an environment, of the project's current `.env` files, and any key with a known format. */
export function createProjectRedactor(
  project: string,
  env: Readonly<Record<string, string | undefined>>,
): RedactFactory {
  const envSecrets = findEnvSecrets(env)
  let known: { readonly signature: string; readonly redact: Redact } | undefined
  const paths = dotenvFiles.map((name) => join(project, name))
  return () => {
    const signature = paths.map((path) => fileSignature(path) ?? '').join('\n')
    if (known?.signature !== signature) {
      known = { signature, redact: createRedactor([...envSecrets, ...paths.flatMap((path) => secretsInFile(path))]) }
    }
    return known.redact
  }
}

/** An unreadable file cannot leak either. */
function secretsInFile(path: string): Secret[] {
  try {
    return parseDotenvSecrets(readTextSyncIfExists(path) ?? '')
  } catch {
    return []
  }
}
