import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { exists, listFolder, createFolder, readTextIfExists, removeFile } from '../../platform/files/files.ts'

/** A request to the process that runs the sprint. */
export const RunRequest = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('stop'),
    as: z.enum(['paused', 'interrupted']),
    when: z.enum(['iteration', 'turn', 'now']),
  }),
  z.object({ type: z.literal('withdraw-stop') }),
  z.object({ type: z.literal('tell'), text: z.string(), now: z.boolean() }),
])
export type RunRequest = z.infer<typeof RunRequest>

const pollIntervalMs = 200
/** A process that runs the sprint polls several times a second; one that does not is stuck or gone. */
const acceptTimeoutMs = 5000

const requestsFolder = (sprintDir: string): string => join(stateFolder(sprintDir), 'requests')

/** Leaves a request for the process that runs the sprint, and waits until it is accepted; false if that takes too long. */
export async function postRequest(sprintDir: string, request: RunRequest, now: number): Promise<boolean> {
  const folder = requestsFolder(sprintDir)
  const file = join(folder, `${now}-${randomUUID()}.json`)
  await createFolder(folder)
  await writeFileAtomic(file, JSON.stringify(request))
  const deadline = performance.now() + acceptTimeoutMs
  while (exists(file) && performance.now() < deadline) await sleep(pollIntervalMs / 4)
  return !exists(file)
}

/** Passes on requests in order, each once. Drops a stop request that was meant for an earlier run. */
export async function watchRequests(sprintDir: string, onRequest: (request: RunRequest) => void): Promise<() => void> {
  const folder = requestsFolder(sprintDir)
  for (const name of await listFolder(folder)) {
    const old = parseRequest(await readTextIfExists(join(folder, name)))
    if (old?.type !== 'tell') await removeFile(join(folder, name))
  }
  let busy = false
  const poll = async () => {
    if (busy) return
    busy = true
    try {
      const names = await listFolder(folder)
      for (const name of names.filter((file) => file.endsWith('.json')).toSorted()) {
        const request = parseRequest(await readTextIfExists(join(folder, name)))
        await removeFile(join(folder, name))
        if (request) onRequest(request)
      }
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void poll().catch(() => {}), pollIntervalMs).unref()
  return () => clearInterval(timer)
}

function parseRequest(text: string | undefined): RunRequest | undefined {
  try {
    const parsed = RunRequest.safeParse(JSON.parse(text ?? ''))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
