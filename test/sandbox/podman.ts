import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerSettings } from '../../src/contract/cell.ts'

/** The runtime of Debian, without systemd, and limits that a machine in a container of its own can set. */
const command = ['podman', '--runtime', 'runc', '--cgroup-manager=cgroupfs', '--storage-driver', 'vfs']

/** How to run containers here without any image: an empty system with the programs of this machine in it. */
export function findPodman(): { readonly container: ContainerSettings } | { readonly missing: string } {
  const image = mkdtempSync('/var/tmp/ralph-system-')
  process.once('exit', () => rmSync(image, { recursive: true, force: true }))
  for (const name of ['usr', 'etc', 'proc', 'sys', 'dev', 'run', 'tmp', 'var', 'root', 'home'])
    mkdirSync(join(image, name))
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    if (existsSync(`/${name}`)) symlinkSync(readlinkSync(`/${name}`), join(image, name))
  }
  for (const name of ['ld.so.cache', 'ssl', 'alternatives']) {
    if (existsSync(`/etc/${name}`))
      cpSync(`/etc/${name}`, join(image, 'etc', name), { recursive: true, verbatimSymlinks: true })
  }
  const run = ['--volume=/usr:/usr:ro']
  const [file = '', ...options] = command
  const limits = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024']
  const words = [...options, 'run', '--rm', '--network=none', ...limits, ...run, '--rootfs', image, 'true']
  const { status, stderr, error } = spawnSync(file, words, { encoding: 'utf8' })
  if (status === 0) return { container: { command, image, run } }
  const missing = error?.message ?? stderr.trim().split('\n').at(-1) ?? ''
  console.warn(`\nNOT TESTED: containers, because this machine cannot have them: ${missing}\n`)
  return { missing }
}
