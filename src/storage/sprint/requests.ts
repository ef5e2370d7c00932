import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { exists, listFolder, makeFolder, readTextIfThere, removeFile } from '../../platform/files/files.ts'

/** A request to the process that runs the sprint. */
export const Request = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('stop'),
    as: z.enum(['paused', 'interrupted']),
    when: z.enum(['iteration', 'turn', 'now']),
  }),
  z.object({ type: z.literal('tell'), text: z.string(), now: z.boolean() }),
])
export type Request = z.infer<typeof Request>

const pollMs = 200
/** A process that runs the sprint polls several times a second; one that does not is stuck or gone. */
const patienceMs = 5000

const requestsFolder = (sprintDir: string): string => join(sprintDir, 'requests')

/** Leaves a request for the process that runs the sprint, and waits until it is accepted; false if that takes too long. */
export async function postRequest(sprintDir: string, request: Request, now: number): Promise<boolean> {
  const folder = requestsFolder(sprintDir)
  const file = join(folder, `${now}-${randomUUID()}.json`)
  await makeFolder(folder)
  await writeFileAtomic(file, JSON.stringify(request))
  const deadline = performance.now() + patienceMs
  while (exists(file) && performance.now() < deadline) await sleep(pollMs / 4)
  return !exists(file)
}

/** Passes on requests in order, each once. Drops a stop request that was meant for an earlier run. */
export async function watchRequests(sprintDir: string, onRequest: (request: Request) => void): Promise<() => void> {
  const folder = requestsFolder(sprintDir)
  for (const name of await listFolder(folder)) {
    const old = parse(await readTextIfThere(join(folder, name)))
    if (old?.type !== 'tell') await removeFile(join(folder, name))
  }
  let busy = false
  const look = async () => {
    if (busy) return
    busy = true
    try {
      const names = await listFolder(folder)
      for (const name of names.filter((file) => file.endsWith('.json')).toSorted()) {
        const request = parse(await readTextIfThere(join(folder, name)))
        await removeFile(join(folder, name))
        if (request) onRequest(request)
      }
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void look().catch(() => {}), pollMs).unref()
  return () => clearInterval(timer)
}

function parse(text: string | undefined): Request | undefined {
  try {
    const parsed = Request.safeParse(JSON.parse(text ?? ''))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
