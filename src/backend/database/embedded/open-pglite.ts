import { setFlagsFromString } from 'node:v8'
import type { PGlite } from '@electric-sql/pglite'

/** Plans are cached, some of them while the tables are still small, so they must not use sequential scans. */
const postgresArguments = ['-c', 'shared_buffers=16MB', '-c', 'enable_seqscan=off']

/** Time budget before V8 optimizes a function; its default optimizes 20 times sooner, on all cores. */
const tieringBudget = 40_000_000

/** Opens Postgres on a folder inside this process. Accounts for most of the startup time of `ralph serve`. */
export async function openPglite(folder: string): Promise<PGlite> {
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudget}`)
  const { PGlite: Lite } = await import('@electric-sql/pglite')
  class Raw extends Lite {
    /** `pg` parses types itself. */
    override async _initArrayTypes(): Promise<void> {}
  }
  // Otherwise Node would not exit before V8 has finished compiling.
  const keepAlive = setInterval(() => {}, 1000)
  try {
    const lite = new Raw({ dataDir: folder, startParams: [...Lite.defaultStartParams, ...postgresArguments] })
    await lite.waitReady
    return lite
  } finally {
    clearInterval(keepAlive)
  }
}
