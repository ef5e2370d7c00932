import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { attemptState } from '../../platform/processes/attempt-folder.ts'
import { readTextSyncIfExists } from '../../platform/files/files.ts'
import { sandboxVariable } from '../cells/cell.ts'

/** The variable with which an agent identifies its attempt to `ralph mcp`. */
export const tokenVariable = 'RALPH_MCP_TOKEN'

/** The hash of the secret, and the sprint's folder: the attempt's own is elsewhere. */
const tokenFile = 'mcp-token'
/** Where the version before kept the sprint's folder: its attempts may still run. */
const oldSprintFile = 'sprint'
/** Makes the token recognisable as a secret wherever it turns up. */
const prefix = 'ralph_mcp_'

/** Creates a token for an attempt: its folder, and a secret whose hash stays in that folder. */
export function createAttemptToken(
  folder: string,
  sprintDir: string,
): {
  readonly token: string
  readonly files: Readonly<Record<string, string>>
} {
  const secret = randomBytes(32).toString('base64url')
  return {
    token: `${prefix}${Buffer.from(folder).toString('base64url')}.${secret}`,
    files: { [tokenFile]: `${hashTokenSecret(secret).toString('hex')}\n${sprintDir}` },
  }
}

/** Returns the folder of the attempt that a token belongs to. A token is valid as long as its attempt runs. */
export function resolveAttemptToken(token: string | undefined): string {
  const [encodedFolder = '', secret = ''] = token?.replace(prefix, '').split('.') ?? []
  const folder = Buffer.from(encodedFolder, 'base64url').toString()
  const storedHash = Buffer.from(folder && readTokenFile(folder).hash, 'hex')
  const givenHash = hashTokenSecret(secret)
  if (storedHash.length !== givenHash.length || !timingSafeEqual(storedHash, givenHash)) {
    throw new RalphError('TOKEN_INVALID', `${tokenVariable} is not the token of an attempt`, {
      hint: 'these tools are for agents that ralph itself has started',
    })
  }
  if (!isAttemptLive(folder)) {
    throw new RalphError('NOT_RUNNING', 'the attempt is over', { hint: 'a token expires with its attempt' })
  }
  return folder
}

/** The folder of the sprint that an attempt belongs to. */
export const readAttemptSprint = (folder: string): string =>
  readTokenFile(folder).sprintDir || (readTextSyncIfExists(join(folder, oldSprintFile)) ?? '')

function readTokenFile(folder: string): { readonly hash: string; readonly sprintDir: string } {
  const [hash = '', ...rest] = readTextSyncIfExists(join(folder, tokenFile))?.split('\n') ?? []
  return { hash, sprintDir: rest.join('\n') }
}

/** Inside the sandbox the shim outside is invisible, but no process in there outlives it. */
function isAttemptLive(folder: string): boolean {
  const state = attemptState(folder)
  return state === 'running' || (state === 'lost' && process.env[sandboxVariable] !== undefined)
}

const hashTokenSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()
