import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../support/paths.ts'

/** Kept between runs: the base takes minutes, and no image can be pulled. */
const cache = '/var/tmp/ralph-containers'
const storage = ['--storage-driver', 'vfs', '--root', join(cache, 'storage'), '--runroot', join(cache, 'run')]

/** Runs a program to its end and returns its output. */
function run(file: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ${error?.message ?? (stderr || stdout).slice(-4000)}`)
  return stdout.trim()
}

const buildah = (...args: readonly string[]): string => run('buildah', [...storage, ...args])

/** The runtime and limits that also work in a virtual machine without systemd. */
export const podman = (...args: readonly string[]): string =>
  run('podman', ['--runtime', 'runc', '--cgroup-manager=cgroupfs', ...storage, ...args])

export const limits = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024']

const base = 'localhost/ralph-base'

/** The image of this checkout, on a Debian from its own packages with the Node.js of this machine. */
export function buildImage(name: string): void {
  mkdirSync(cache, { recursive: true })
  if (buildah('images', '--quiet', '--filter', `reference=${base}`) === '') buildBase()
  const files = ['/etc/ssl/certs/ca-certificates.crt', '/usr/etc/npmrc'].filter((file) => existsSync(file))
  const npmCache = run('npm', ['config', 'get', 'cache']).split('\n').at(-1) ?? ''
  const copy = join(cache, 'npm')
  if (existsSync(npmCache) && !existsSync(copy)) cpSync(npmCache, copy, { recursive: true })
  const volumes = [
    ...files.map((file) => `--volume=${file}:${file}:ro`),
    ...(existsSync(copy) ? [`--volume=${copy}:/root/.npm`] : []),
  ]
  const settings = ['--build-arg', `BASE=${base}`, '--build-arg', 'INSTALL=']
  buildah('bud', '--layers', '--format', 'docker', '--isolation', 'chroot', ...settings, ...volumes, '-t', name, root)
}

const packages = ['git', 'openssh-client', 'ca-certificates', 'bubblewrap', 'tini', 'procps']

function buildBase(): void {
  const system = join(cache, 'root')
  if (!existsSync(join(system, 'usr/bin/tini')))
    run('debootstrap', ['--variant=minbase', `--include=${packages.join(',')}`, 'bookworm', system])
  const npm = dirname(dirname(realpathSync(run('which', ['npm']))))
  copyFileSync(process.execPath, join(system, 'usr/bin/node'))
  cpSync(npm, join(system, 'usr/lib/node_modules/npm'), { recursive: true, force: true })
  for (const name of ['npm', 'npx'])
    if (!existsSync(join(system, 'usr/bin', name)))
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(system, 'usr/bin', name))
  writeFileSync(join(cache, 'Base'), 'FROM scratch\nCOPY root /\n')
  buildah('bud', '--isolation', 'chroot', '-t', base, '-f', join(cache, 'Base'), cache)
}
