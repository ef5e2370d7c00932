import { join } from 'node:path'
import { redactor, secretsIn, secretsInDotenv, type Redact } from '../contract/redact.ts'
import { fileSignature, readTextSyncIfThere } from '../platform/files.ts'
import type { Redactor } from '../runtime/redacted.ts'
import { projectOf } from '../storage/sprint-folder.ts'
import type { Io } from './io.ts'

const files = ['.env', '.env.local', '.env.development', '.env.test', '.env.production', '.env.development.local']

/** Knows the secrets of the user's environment, of the project's `.env` files as they are at the moment, and of any key by its form. */
export function redactorFor(project: string, io: Pick<Io, 'env'>): Redactor {
  const ofUser = secretsIn(io.env)
  let known: { readonly signature: string; readonly redact: Redact } | undefined
  return () => {
    const paths = files.map((name) => join(project, name))
    const signature = paths.map((path) => fileSignature(path) ?? '').join('\n')
    if (known?.signature !== signature) {
      known = { signature, redact: redactor([...ofUser, ...paths.flatMap(secretsInFile)]) }
    }
    return known.redact
  }
}

/** For those who look at a sprint from outside. */
export const redactFor = (sprintDir: string, io: Pick<Io, 'env' | 'cwd'>): Redact =>
  redactorFor(projectOf(sprintDir, io.cwd), io)()

/** One that cannot be read cannot be told either. */
function secretsInFile(path: string) {
  try {
    return secretsInDotenv(readTextSyncIfThere(path) ?? '')
  } catch {
    return []
  }
}
