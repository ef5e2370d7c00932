import { join } from 'node:path'
import { z } from 'zod'
import { createClient, type Client } from '../../client/client.ts'
import { RalphError } from '../../contract/errors.ts'
import { readTextSyncIfExists } from '../../platform/files/files.ts'
import type { Io } from '../io/io.ts'
import { resolveDataFolder } from './settings.ts'

/** The file a running `ralph serve` leaves for other commands of the same user. */
export const RunningBackend = z.object({ origin: z.string(), token: z.string(), pid: z.int(), startedAt: z.string() })
export type RunningBackend = z.output<typeof RunningBackend>

export const runningBackendFile = (dataFolder: string): string => join(dataFolder, 'serve.json')

/** The API of the backend on this machine, or of the one that RALPH_URL and RALPH_TOKEN name. */
export function createBackendClient(data: string | undefined, io: Io): Client {
  const { RALPH_URL: url, RALPH_TOKEN: token } = io.env
  if (url && token) return createClient({ baseUrl: url, token })
  const text = readTextSyncIfExists(runningBackendFile(resolveDataFolder(data, io)))
  const served = text === undefined ? undefined : RunningBackend.safeParse(JSON.parse(text))
  if (!served?.success) {
    throw new RalphError('BACKEND_NOT_FOUND', 'no backend is running on this machine', {
      hint: 'start one with `ralph serve`, or set RALPH_URL and RALPH_TOKEN',
    })
  }
  return createClient({ baseUrl: served.data.origin, token: served.data.token })
}
