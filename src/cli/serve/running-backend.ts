import { join } from 'node:path'
import { z } from 'zod'
import { createClient, type Client } from '../../client/client.ts'
import { RalphError } from '../../contract/errors.ts'
import { readTextSyncIfExists } from '../../platform/files/files.ts'
import { readTrustedCertificates } from '../../platform/net/trust.ts'
import { createTrustingFetch } from '../../platform/net/trusting-fetch.ts'
import type { Io } from '../io/io.ts'
import { resolveDataFolder } from './settings.ts'

/** The file a running `ralph serve` leaves for other commands of the same user. */
export const RunningBackend = z.object({
  origin: z.string(),
  token: z.string(),
  pid: z.int(),
  startedAt: z.string(),
  /** The file with the certificate that it serves. */
  certificate: z.string().optional(),
})
export type RunningBackend = z.output<typeof RunningBackend>

export const runningBackendFile = (dataFolder: string): string => join(dataFolder, 'serve.json')

/** The option of every command that calls a backend. */
export const caOption = {
  type: 'string',
  value: 'FILE',
  description: "certificate of the authority that signed the backend's (default: RALPH_CA)",
} as const

export type BackendClientOptions = { readonly data?: string | undefined; readonly ca?: string | undefined }

/** The API of the backend on this machine, or of the one that RALPH_URL and RALPH_TOKEN name. */
export function createBackendClient({ data, ca }: BackendClientOptions, io: Io): Client {
  const { RALPH_URL: url, RALPH_TOKEN: token } = io.env
  if (url && token) {
    const trusting = createTrustingFetch({ ca: () => readTrustedCertificates({ env: io.env, ca }) })
    return createClient({ baseUrl: url, token, fetch: trusting })
  }
  const text = readTextSyncIfExists(runningBackendFile(resolveDataFolder(data, io)))
  const served = text === undefined ? undefined : RunningBackend.safeParse(JSON.parse(text))
  if (!served?.success) {
    throw new RalphError('BACKEND_NOT_FOUND', 'no backend is running on this machine', {
      hint: 'start one with `ralph serve`, or set RALPH_URL and RALPH_TOKEN',
    })
  }
  const { origin, token: own, certificate } = served.data
  // The same user has given this file to `ralph serve`, so the backend that shows it is that one.
  const shown = certificate === undefined ? [] : [readTextSyncIfExists(certificate) ?? '']
  const trusting = createTrustingFetch({ ca: () => [...readTrustedCertificates({ env: io.env, ca }), ...shown] })
  return createClient({ baseUrl: origin, token: own, fetch: trusting })
}
