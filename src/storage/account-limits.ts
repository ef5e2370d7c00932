import { join } from 'node:path'
import { z } from 'zod'
import { writeFileAtomic } from '../platform/atomic-file.ts'
import { makeFolder, readTextIfThere } from '../platform/files.ts'
import type { AccountLimits } from '../runtime/ports.ts'

const Limits = z.record(z.string(), z.number())

/** Usage limits in the user's own folder, so that all sprints of the account wait for the same reset. */
export function accountLimits(home: string): AccountLimits {
  const file = join(home, 'limits.json')
  const read = async (): Promise<Record<string, number>> => {
    try {
      const parsed = Limits.safeParse(JSON.parse((await readTextIfThere(file)) ?? '{}'))
      return parsed.success ? parsed.data : {}
    } catch {
      // Torn or foreign: it only saves a start, so it is written anew with the next limit.
      return {}
    }
  }
  return {
    until: async (agent) => {
      const limits = await read()
      return Object.hasOwn(limits, agent) ? limits[agent] : undefined
    },
    note: async (agent, until) => {
      await makeFolder(home)
      await writeFileAtomic(file, JSON.stringify({ ...(await read()), [agent]: until }))
    },
  }
}
