import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { exists, makePrivateFolder, moveFile, removeFolder } from '../../platform/files.ts'

/** A folder for the embedded database, if there is none yet. It is there whole, or (if we are killed) not at all. */
export async function makeEmbedded(folder: string): Promise<void> {
  await makePrivateFolder(folder)
  if (exists(`${folder}/PG_VERSION`)) return
  const unfinished = `${folder}.new`
  await removeFolder(unfinished)
  await makePrivateFolder(unfinished)
  await make(unfinished)
  await removeFolder(folder)
  await moveFile(unfinished, folder)
}

/**
 * Making one takes 500 MB that are never given back, so it is done in a thread, which gives back everything at its end. The code
 * is a text because a thread needs a file otherwise, which our programs do not have one by one.
 */
const program = `
  const { workerData } = require('node:worker_threads')
  import(workerData.library)
    .then(({ PGlite }) => PGlite.create({ dataDir: workerData.folder }))
    .then((lite) => lite.close())`

async function make(folder: string): Promise<void> {
  const library = pathToFileURL(createRequire(import.meta.url).resolve('@electric-sql/pglite')).href
  const worker = new Worker(program, { eval: true, workerData: { library, folder } })
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject)
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`it ended with ${code}`))))
  })
}
