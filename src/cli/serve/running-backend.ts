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
  /** Where it listens, as seen from this computer. */
  listening: z.string().optional(),
  /** The file with the certificate that it serves. */
  certificate: z.string().optional(),
})
export type RunningBackend = z.output<typeof RunningBackend>

export const runningBackendFile = (dataFolder: string): string => join(dataFolder, 'serve.json')

export type BackendClientOptions = { readonly data?: string | undefined; readonly ca?: string | undefined }

/** The API of the backend on this machine, or of the one that RALPH_URL and RALPH_TOKEN name. */
export function createBackendClient({ data, ca }: BackendClientOptions, io: Io): Client {
  const { RALPH_URL: url, RALPH_TOKEN: token } = io.env
  const remote = url && token ? createRemoteClient(url, { ca }, io).client : undefined
  if (remote) return remote
  const served = findRunningBackend(data, io, ca)
  if (served) return createClient({ baseUrl: served.origin, token: served.token, fetch: served.fetch })
  throw new RalphError('BACKEND_NOT_FOUND', 'no backend is running on this machine', {
    hint: 'start one with `ralph serve`, or set RALPH_URL and RALPH_TOKEN',
  })
}

/** A backend by its address; its API only if RALPH_TOKEN is set. */
export function createRemoteClient(baseUrl: string, { ca }: BackendClientOptions, io: Io) {
  const token = io.env['RALPH_TOKEN']
  const trusting = createTrustingFetch({ ca: () => readTrustedCertificates({ env: io.env, ca }) })
  return { fetch: trusting, client: token ? createClient({ baseUrl, token, fetch: trusting }) : undefined }
}

/** The backend at this address, if it runs on this computer: the user of its data folder needs no token. */
export function createLocalClient(origin: string, { ca }: BackendClientOptions, io: Io) {
  const served = findRunningBackend(undefined, io, ca)
  if (!served || ![served.origin, served.address].some((known) => new URL(known).origin === origin)) return undefined
  return {
    fetch: served.fetch,
    client: createClient({ baseUrl: served.address, token: served.token, fetch: served.fetch }),
  }
}

/** What the backend of this data folder has left, or one that was killed. */
export function readRunningBackend(dataFolder: string): RunningBackend | undefined {
  const text = readTextSyncIfExists(runningBackendFile(dataFolder))
  try {
    return RunningBackend.parse(JSON.parse(text ?? ''))
  } catch {
    // Absent, damaged, or of another version: the next start replaces it.
    return undefined
  }
}

/** The backend that runs on this computer, if there is one. */
export function findRunningBackend(data: string | undefined, io: Io, ca?: string) {
  const served = readRunningBackend(resolveDataFolder(data, io))
  if (!served) return undefined
  const { origin, listening, token, certificate } = served
  // The same user has given this file to `ralph serve`, so the backend that shows it is that one.
  const shown = certificate === undefined ? [] : [readTextSyncIfExists(certificate) ?? '']
  const trusting = createTrustingFetch({ ca: () => [...readTrustedCertificates({ env: io.env, ca }), ...shown] })
  return { origin, address: listening ?? origin, token, fetch: trusting }
}
