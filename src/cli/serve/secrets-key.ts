import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { readTextIfExists } from '../../platform/files/files.ts'
import { writePrivateFile } from '../../platform/files/private-file.ts'
import type { Io } from '../io/io.ts'
import type { ServeSettings } from './settings.ts'

/**
 * The key that encrypts secrets in the database: a variable, a file, or for the embedded database a file of its own beside it.
 * Undefined for a database server without either, whose replicas could not share a file of ours. Throws SECRETS_KEY_WRONG.
 */
export async function readSecretsKey(
  { dataFolder, place }: Pick<ServeSettings, 'dataFolder' | 'place'>,
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): Promise<string | undefined> {
  const { RALPH_SECRETS_KEY: key, RALPH_SECRETS_KEY_FILE: file } = env
  if (key) return key
  if (file) {
    const text = await readTextIfExists(resolve(cwd, file))
    if (text !== undefined) return text
    throw new RalphError('SECRETS_KEY_WRONG', `RALPH_SECRETS_KEY_FILE: there is no file ${file}`, {
      hint: 'create it with: openssl rand -base64 48',
    })
  }
  if ('url' in place) return undefined
  const own = join(dataFolder, 'secrets.key')
  const kept = await readTextIfExists(own)
  if (kept !== undefined) return kept
  const made = `${randomBytes(48).toString('base64url')}\n`
  await writePrivateFile(own, made)
  return made
}
