import { join, resolve } from 'node:path'
import { RalphError } from '../../../contract/errors.ts'
import { createPrivateFolder, exists, fileSize, listFolder, removeFile } from '../../../platform/files/files.ts'
import { formatBytes, formatCount } from '../../../words/counts.ts'
import { assetPath, packageVersion, templateDatabasePath } from '../../io/assets.ts'
import { defineCommand, parsePositiveNumber } from '../../io/command.ts'
import type { Io } from '../../io/io.ts'
import { resolveDataFolder } from '../../serve/settings.ts'

const verbs = ['check', 'restore', 'list'] as const

export const backup = defineCommand({
  name: 'backup',
  summary: 'Back up the database of the backend, check a backup, or restore one',
  arguments: [`[${verbs.join('|')}]`, '[file]'],
  options: {
    output: { type: 'string', value: 'FILE', description: 'file to write (default: a new one in <data>/backups)' },
    data: { type: 'string', value: 'DIR', description: 'data folder of the backend (default ~/.ralph/backend)' },
    keep: { type: 'string', value: 'N', description: 'delete all but the newest N backups of <data>/backups' },
    json: { type: 'boolean', description: 'print JSON' },
  },
  details: `Without an argument, writes a backup of the database that DATABASE_URL names, else of the embedded one in the data folder.
The backend may run: the backup is one consistent snapshot. The file is compressed, has a checksum, and can be restored
into either database. It holds the key of the fleet: keep it as you keep the database.

check    read a backup and verify it
restore  fill an empty database (DATABASE_URL), or a data folder without one, with a backup; then start the backend on it
list     list the backups of the data folder`,
  examples: [
    'ralph backup',
    'ralph backup --output /mnt/backups/ralph.backup',
    'ralph backup check ralph.backup',
    'DATABASE_URL=postgres://… ralph backup restore ralph.backup',
  ],
  async run({ values, positionals: [verb, file] }, io) {
    const dataFolder = resolveDataFolder(values.data, io)
    const say = (json: unknown, text: string) => io.print(values.json === true ? JSON.stringify(json) : text)
    if (verb === undefined) {
      const keep = parsePositiveNumber(values.keep, '--keep')
      const made = await createBackup({ dataFolder, output: values.output, keep }, io)
      say(made, `${made.file}  ${formatCount(made.rows)} rows, ${formatBytes(made.bytes)}, sha256 ${made.sha256}`)
      return 0
    }
    if (!verbs.some((name) => name === verb))
      throw new RalphError('USAGE', `backup: unknown command "${verb}"`, { hint: `use one of ${verbs.join(', ')}` })
    if (verb === 'list') {
      const found = await listBackups(dataFolder)
      say(found, found.map(({ file: path, bytes }) => `${path}  ${formatBytes(bytes)}`).join('\n') || 'no backup yet')
      return 0
    }
    if (file === undefined) throw new RalphError('USAGE', `backup ${verb}: missing file`, { hint: 'ralph backup list' })
    const path = resolve(io.cwd, file)
    if (!exists(path)) throw new RalphError('FILE_NOT_FOUND', 'file not found', { place: { file: path } })
    const done = verb === 'check' ? await checkFile(path) : await restoreFile(path, dataFolder, io)
    say(
      done,
      `${verb === 'check' ? 'whole' : 'restored'}: ${formatCount(done.rows)} rows of ${done.createdAt}, ralph ${done.ralph}`,
    )
    return 0
  },
})

type NewBackup = {
  readonly dataFolder: string
  readonly output: string | undefined
  readonly keep: number | undefined
}

async function createBackup({ dataFolder, output, keep }: NewBackup, io: Io) {
  const { writeBackup } = await import('../../../backend/backup/write-backup.ts')
  const stamp = new Date(io.now()).toISOString().replaceAll(':', '-').slice(0, 19)
  const folder = join(dataFolder, 'backups')
  const file = output === undefined ? join(folder, `ralph-${stamp}.backup`) : resolve(io.cwd, output)
  if (output === undefined) await createPrivateFolder(folder)
  const source = await openSource(dataFolder, io)
  try {
    const made = await writeBackup(source.database, file, { ralph: packageVersion(), now: io.now() })
    const old = keep === undefined ? [] : (await listBackups(dataFolder)).slice(keep)
    for (const { file: path } of old) await removeFile(path)
    return { ...made, bytes: fileSize(file) }
  } finally {
    await source.close()
  }
}

/** The database, as it is now: that of DATABASE_URL, the folder itself, or a copy that the running backend makes. */
async function openSource(dataFolder: string, io: Io) {
  const { openDatabaseAsIs } = await import('../../../backend/database/open-database.ts')
  const url = io.env['DATABASE_URL']
  if (url) {
    const database = await openDatabaseAsIs({ url }, {})
    return { database, close: database.close }
  }
  if (!exists(join(dataFolder, 'database', 'PG_VERSION'))) {
    throw new RalphError('FILE_NOT_FOUND', 'there is no database in this data folder', {
      place: { file: dataFolder },
      hint: 'name the data folder of the backend with --data, or a Postgres server with DATABASE_URL',
    })
  }
  try {
    const database = await openDatabaseAsIs({ dataFolder }, {})
    return { database, close: database.close }
  } catch (error) {
    if (!(error instanceof RalphError) || error.code !== 'DATA_FOLDER_IN_USE') throw error
    return openCopy(dataFolder, io)
  }
}

async function openCopy(dataFolder: string, io: Io) {
  const { openDatabaseAsIs } = await import('../../../backend/database/open-database.ts')
  const { createBackendClient } = await import('../../serve/running-backend.ts')
  const { removeFolder } = await import('../../../platform/files/files.ts')
  const { RALPH_URL: _url, RALPH_TOKEN: _token, ...env } = io.env
  const { folder } = await createBackendClient({ data: dataFolder }, { ...io, env }).makeDatabaseCopy({})
  try {
    const database = await openDatabaseAsIs({ dataFolder: folder }, {})
    const close = async () => {
      await database.close()
      await removeFolder(folder)
    }
    return { database, close }
  } catch (error) {
    await removeFolder(folder)
    throw error
  }
}

/** Newest first. */
async function listBackups(dataFolder: string): Promise<{ readonly file: string; readonly bytes: number }[]> {
  const folder = join(dataFolder, 'backups')
  const names = (await listFolder(folder)).filter((name) => name.endsWith('.backup'))
  return names
    .toSorted()
    .toReversed()
    .map((name) => ({ file: join(folder, name), bytes: fileSize(join(folder, name)) }))
}

const checkFile = async (file: string) => (await import('../../../backend/backup/restore-backup.ts')).checkBackup(file)

async function restoreFile(file: string, dataFolder: string, io: Io) {
  const { restoreBackup } = await import('../../../backend/backup/restore-backup.ts')
  const { openDatabaseAsIs } = await import('../../../backend/database/open-database.ts')
  const { readMigrations } = await import('../../../backend/database/migrate.ts')
  const url = io.env['DATABASE_URL']
  if (!url && exists(join(dataFolder, 'database'))) {
    throw new RalphError('DATABASE_IN_USE', 'this data folder already has a database', {
      place: { file: join(dataFolder, 'database') },
      hint: 'restore into another folder with --data, or move this one away first',
    })
  }
  const { migrations } = await checkFile(file)
  // The template has every migration, but an older backup must get the newer ones after its rows.
  const isCurrent = migrations === (await readMigrations(assetPath('migrations'))).length
  const place = url ? { url } : { dataFolder, ...(isCurrent && { template: templateDatabasePath() }) }
  const database = await openDatabaseAsIs(place, {})
  try {
    return await restoreBackup(database, file, assetPath('migrations'))
  } finally {
    await database.close()
  }
}
