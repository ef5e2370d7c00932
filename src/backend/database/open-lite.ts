import { setFlagsFromString } from 'node:v8'
import type { PGlite } from '@electric-sql/pglite'

/** Statements are planned once and kept, some of them while the tables are small: a plan must not read a whole table for that. */
const settings = ['-c', 'shared_buffers=16MB', '-c', 'enable_seqscan=off']

/** Functions are compiled for speed after they have run for so long; by itself V8 does it 20 times sooner, with all cores. */
const tieringBudget = 40_000_000

/** Postgres on a folder, inside this process. Most of the time that `ralph serve` takes to start is spent here. */
export async function openLite(folder: string): Promise<PGlite> {
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudget}`)
  const { PGlite: Lite } = await import('@electric-sql/pglite')
  class Raw extends Lite {
    /** Types are the matter of whoever speaks the protocol with it: `pg`. */
    override async _initArrayTypes(): Promise<void> {}
  }
  // With nothing else to wait for, Node would wait until V8 has compiled all that it has begun to compile.
  const busy = setInterval(() => {}, 1000)
  try {
    const lite = new Raw({ dataDir: folder, startParams: [...Lite.defaultStartParams, ...settings] })
    await lite.waitReady
    return lite
  } finally {
    clearInterval(busy)
  }
}
