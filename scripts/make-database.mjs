// bin/database.br: an empty embedded database with all tables, ours and those of the engine. `ralph serve` starts with a copy of
// it. Created again when one of its inputs has changed.
// Usage: node --liftoff-only scripts/make-database.mjs (such a short program needs no optimised code)
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../dist/backend/database/open-database.js'
import { openEngine } from '../dist/backend/engine/open-engine.js'
import { packFolder } from '../dist/platform/files/folder-archive.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const migrations = join(root, 'assets/migrations')
const archive = join(root, 'bin/database.br')
const keyFile = join(root, 'bin/database.key')

const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const hash = createHash('sha256')
for (const name of ['@electric-sql/pglite', '@dbos-inc/dbos-sdk']) hash.update(`${name} ${dependencies[name]}\n`)
const made = readdirSync(migrations)
  .toSorted()
  .map((name) => join(migrations, name))
const makers = [fileURLToPath(import.meta.url), join(root, 'dist/platform/files/folder-archive.js')]
for (const path of [...made, ...makers]) hash.update(readFileSync(path))
const key = hash.digest('hex')

const isCurrent = existsSync(archive) && existsSync(keyFile) && readFileSync(keyFile, 'utf8') === key
if (!isCurrent) await make()

async function make() {
  const dataFolder = await mkdtemp(join(tmpdir(), 'ralph-database-'))
  const database = await openDatabase({ dataFolder }, { migrations })
  const engine = await openEngine(database, { handlers: {}, onLost: () => {} })
  await engine.close()
  // Its write-ahead log would be most of the file.
  for (const statement of ['set wal_recycle = off', 'select pg_switch_wal()', 'checkpoint'])
    await database.pool.query(statement)
  await database.close()
  rmSync(keyFile, { force: true })
  put(archive, await packFolder(join(dataFolder, 'database')))
  put(keyFile, key)
  await rm(dataFolder, { recursive: true })
}

/** Atomically: a backend may be starting. The draft is in another folder. */
function put(path, content) {
  const draft = join(root, '.cache', `${basename(path)}.${process.pid}`)
  for (const folder of [dirname(draft), dirname(path)]) mkdirSync(folder, { recursive: true })
  writeFileSync(draft, content)
  renameSync(draft, path)
}
