import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'
import { type Settings, UserConfig } from '../../contract/settings.ts'
import { readTextSyncIfExists } from '../../platform/files/files.ts'
import { ralphHome } from '../../platform/ralph-home.ts'
import type { Io } from './io.ts'

/** `~/.ralph/config.yaml`, for commands that run without a sprint. */
export function readUserConfig(io: Io): Settings {
  const file = join(ralphHome(io), 'config.yaml')
  const text = readTextSyncIfExists(file)
  const read = UserConfig.safeDecode(parseUserConfig(text ?? '') ?? {})
  if (read.success) return read.data
  throw new RalphError('INVALID_FIELD', z.prettifyError(read.error).replaceAll('\n', ' '), { place: { file } })
}

function parseUserConfig(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return 'invalid YAML'
  }
}
