import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { exists, listFolder, makePrivateFolder, moveFile, readBytes, removeFolder } from '../../platform/files.ts'
import { unpackFolder } from '../../platform/folder-archive.ts'

/**
 * A folder for the embedded database, if there is none yet: a copy of the one that the build has made, because Postgres takes
 * seconds and 500 MB to make one. It is there whole, or (if we are killed) not at all.
 */
export async function placeReady(archive: string, folder: string): Promise<void> {
  if (exists(join(folder, 'PG_VERSION'))) return
  await removeUnfinished(folder)
  const unfinished = `${folder}.new-${randomUUID()}`
  await makePrivateFolder(unfinished)
  await unpackFolder(await read(archive), unfinished)
  await removeFolder(folder)
  await moveFile(unfinished, folder)
}

async function removeUnfinished(folder: string): Promise<void> {
  const place = dirname(folder)
  const left = (await listFolder(place)).filter((name) => name.startsWith(`${basename(folder)}.new-`))
  for (const name of left) await removeFolder(join(place, name))
}

const read = (archive: string): Promise<Buffer> =>
  readBytes(archive).catch((cause: unknown) => {
    throw new RalphError('DATABASE_UNAVAILABLE', 'the empty database of the package is missing', {
      place: { file: archive },
      hint: 'install ralph again; in a checkout: npm run build',
      cause,
    })
  })
