import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { attemptState } from '../../platform/processes/attempt-folder.ts'
import { readTextSyncIfThere } from '../../platform/files/files.ts'
import { sandboxVariable } from '../cells/cell.ts'

/** How an agent shows to `ralph mcp` which attempt it is. */
export const tokenVariable = 'RALPH_MCP_TOKEN'

const hashFile = 'mcp-token'
/** So that it is known for a secret wherever it turns up. */
const prefix = 'ralph_mcp_'

/** A token for the attempt of a folder: where it is, and a secret whose hash stays in the folder. */
export function newToken(folder: string): { readonly token: string; readonly files: Readonly<Record<string, string>> } {
  const secret = randomBytes(32).toString('base64url')
  return {
    token: `${prefix}${Buffer.from(folder).toString('base64url')}.${secret}`,
    files: { [hashFile]: `${hashOf(secret).toString('hex')}\n` },
  }
}

/** The folder of the attempt that a token is for. It counts as long as that attempt lives. */
export function attemptOf(token: string | undefined): string {
  const [place = '', secret = ''] = token?.replace(prefix, '').split('.') ?? []
  const folder = Buffer.from(place, 'base64url').toString()
  const kept = Buffer.from((folder && readTextSyncIfThere(join(folder, hashFile))?.trim()) ?? '', 'hex')
  const shown = hashOf(secret)
  if (kept.length !== shown.length || !timingSafeEqual(kept, shown)) {
    throw new RalphError('TOKEN_INVALID', `${tokenVariable} is not the token of an attempt`, {
      hint: 'these tools are for agents that ralph itself has started',
    })
  }
  if (!isLive(folder)) {
    throw new RalphError('NOT_RUNNING', 'the attempt is over', { hint: 'its token is worth nothing any more' })
  }
  return folder
}

/** From within the sandbox the shim outside cannot be seen; but nothing in there outlives it. */
function isLive(folder: string): boolean {
  const state = attemptState(folder)
  return state === 'running' || (state === 'lost' && process.env[sandboxVariable] !== undefined)
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
