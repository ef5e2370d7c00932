import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RalphError } from '../../contract/errors.ts'
import { exists, listFolder, makePrivateFolder, moveFile, removeFolder } from '../../platform/files.ts'
import { runShortly } from '../../platform/short-run.ts'

/** A folder for the embedded database, if there is none yet. It is there whole, or (if we are killed) not at all. */
export async function makeEmbedded(folder: string): Promise<void> {
  if (exists(join(folder, 'PG_VERSION'))) return
  await removeUnfinished(folder)
  // A name of its own: who was making one when its parent was killed may still be at it.
  const unfinished = `${folder}.new-${randomUUID()}`
  await makePrivateFolder(unfinished)
  await make(unfinished)
  await removeFolder(folder)
  await moveFile(unfinished, folder)
}

async function removeUnfinished(folder: string): Promise<void> {
  const place = dirname(folder)
  const left = (await listFolder(place)).filter((name) => name.startsWith(`${basename(folder)}.new-`))
  // What somebody still writes into goes the next time.
  for (const name of left) await removeFolder(join(place, name)).catch(() => {})
}

/**
 * Making one takes 500 MB, which the library never gives back: so it is done by a process of its own. It runs too short for code that
 * is optimised, which takes half of the time.
 */
const program = `
  require('node:v8').setFlagsFromString('--liftoff-only')
  const [library, folder] = process.argv.slice(1)
  import(library)
    .then(({ PGlite }) => PGlite.create({ dataDir: folder }))
    .then((lite) => lite.close())
    .catch((error) => (console.log(error), process.exitCode = 1))`

const mostMs = 600_000

async function make(folder: string): Promise<void> {
  const library = pathToFileURL(createRequire(import.meta.url).resolve('@electric-sql/pglite')).href
  const args = ['--eval', program, library, folder]
  const { code, stdout } = await runShortly({
    file: process.execPath,
    args,
    cwd: folder,
    env: {},
    timeoutMs: mostMs,
  })
  if (code === 0) return
  throw new RalphError('DATABASE_UNAVAILABLE', `the embedded database could not be made: ${stdout.trim()}`, {
    place: { file: folder },
    hint: 'look whether the disk has room and the folder can be written to',
  })
}
