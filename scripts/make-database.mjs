// bin/database.br: an empty embedded database with all tables, ours and those of the engine. `ralph serve` begins with a copy of
// it. Made anew when a migration or a package that writes into it has changed.
// Usage: node --liftoff-only scripts/make-database.mjs (a program that runs this short needs no optimised code)
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../dist/backend/database/open-database.js'
import { openEngine } from '../dist/backend/engine/open-engine.js'
import { packFolder } from '../dist/platform/folder-archive.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const migrations = join(root, 'assets/migrations')
const archive = join(root, 'bin/database.br')
const keyFile = join(root, 'bin/database.key')

const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const hash = createHash('sha256')
for (const name of ['@electric-sql/pglite', '@dbos-inc/dbos-sdk']) hash.update(`${name} ${dependencies[name]}\n`)
for (const name of readdirSync(migrations).toSorted()) hash.update(readFileSync(join(migrations, name)))
const key = hash.digest('hex')

const isCurrent = existsSync(archive) && existsSync(keyFile) && readFileSync(keyFile, 'utf8') === key
if (!isCurrent) await make()

async function make() {
  const dataFolder = await mkdtemp(join(tmpdir(), 'ralph-database-'))
  const database = await openDatabase({ dataFolder }, { migrations })
  const engine = await openEngine(database, { handlers: {}, onLost: () => {} })
  await engine.close()
  // The journal of all that would be most of the file.
  for (const statement of ['set wal_recycle = off', 'select pg_switch_wal()', 'checkpoint'])
    await database.pool.query(statement)
  await database.close()
  put(archive, await packFolder(join(dataFolder, 'database')))
  put(keyFile, key)
  await rm(dataFolder, { recursive: true })
}

/** At once: somebody may be starting a backend. */
function put(path, content) {
  writeFileSync(`${path}.${process.pid}`, content)
  renameSync(`${path}.${process.pid}`, path)
}
