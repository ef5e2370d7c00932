import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { createFolder, readTextIfExists } from '../../platform/files/files.ts'
import type { AccountLimits } from '../../runtime/ports.ts'

const StoredLimit = z.object({ agent: z.string(), until: z.number() })

/**
 * Usage limits in the user's home folder, so that all sprints of an account wait for the same reset: one file each, since
 * several sprints can hit their limits at the same moment. `accountOf` identifies the paying account; it is not stored.
 */
export function openAccountLimits(home: string, identifyAccount: (agent: string) => string = () => ''): AccountLimits {
  const folder = join(home, 'limits')
  const files = new Map<string, string>()
  const resolveFile = (agent: string) => {
    const known = files.get(agent)
    if (known !== undefined) return known
    const name = createHash('sha256')
      .update(JSON.stringify([agent, identifyAccount(agent)]))
      .digest('hex')
    const file = join(folder, `${name.slice(0, 32)}.json`)
    files.set(agent, file)
    return file
  }
  return {
    limitedUntil: async (agent) => {
      try {
        const parsed = StoredLimit.safeParse(JSON.parse((await readTextIfExists(resolveFile(agent))) ?? ''))
        return parsed.success ? parsed.data.until : undefined
      } catch {
        // Missing, torn or foreign: it only avoids a needless start, and the next limit writes it again.
        return undefined
      }
    },
    record: async (agent, until) => {
      await createFolder(folder)
      await writeFileAtomic(resolveFile(agent), JSON.stringify({ agent, until }))
    },
  }
}
