import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { RalphError, errorMessage } from '../../../contract/errors.ts'
import { syncFolder } from '../../../platform/files/atomic-file.ts'
import {
  exists,
  listFolder,
  createPrivateFolder,
  moveFile,
  readBytes,
  removeFolder,
} from '../../../platform/files/files.ts'
import { unpackFolder } from '../../../platform/files/folder-archive.ts'

/**
 * Creates the folder of the embedded database from the template made by the build, because Postgres takes seconds and
 * 500 MB to create one. If the process is killed, the folder does not exist.
 */
export async function unpackTemplateDatabase(archive: string, folder: string): Promise<void> {
  if (exists(join(folder, 'PG_VERSION'))) return
  await removeUnfinished(folder)
  const unfinished = `${folder}.new-${randomUUID()}`
  await createPrivateFolder(unfinished)
  await unpackArchive(archive, unfinished)
  await removeFolder(folder)
  await moveFile(unfinished, folder)
  await syncFolder(dirname(folder))
}

async function removeUnfinished(folder: string): Promise<void> {
  const place = dirname(folder)
  const left = (await listFolder(place)).filter((name) => name.startsWith(`${basename(folder)}.new-`))
  for (const name of left) await removeFolder(join(place, name))
}

async function unpackArchive(archive: string, folder: string): Promise<void> {
  try {
    await unpackFolder(await readBytes(archive), folder)
  } catch (cause) {
    const why = errorMessage(cause)
    throw new RalphError('DATABASE_UNAVAILABLE', `the embedded database could not be created: ${why}`, {
      place: { file: archive },
      hint: 'check the free disk space; otherwise reinstall ralph (in a checkout: npm run build)',
      cause,
    })
  }
}
