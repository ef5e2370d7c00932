import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CommandScope } from './sprint-under-fire.ts'

/** Whether this machine can create private disks. */
export const canMount =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['--mount', 'sh', '-c', 'mount -t tmpfs -o size=1m none /mnt && command -v nsenter'], {
    stdio: 'ignore',
  }).status === 0

export const mountFailure = 'needs root, unshare, nsenter and tmpfs'

export type SmallDisk = CommandScope & {
  /** Takes all space but this much, which may be zero. */
  readonly fill: (leaveBytes?: number) => void
  readonly free: () => void
  readonly remount: (how: 'ro' | 'rw') => void
}

/** A small disk over a folder, in a private mount namespace: the machine does not notice. */
export async function createSmallDisk(
  folder: string,
  options: string,
  workTree = join(folder, '..'),
): Promise<SmallDisk> {
  const script = `cp -a "$1" "$1.before" && mount -t tmpfs -o ${options} none "$1" && cp -a "$1.before/." "$1/" && echo ready && exec sleep 3600`
  const holder = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void holder.kill('SIGKILL'))
  await once(holder.stdout, 'data')
  const prefix = ['nsenter', `--target=${holder.pid}`, '--mount', `--wd=${workTree}`]
  const seen = (path: string) => `/proc/${holder.pid}/root${path}`
  const filler = join(seen(folder), 'filler')
  return {
    prefix,
    seen,
    fill(leaveBytes = 0) {
      const fd = openSync(filler, 'a')
      try {
        for (let size = 1024 * 1024; size >= 512;) {
          const full = freeBytes(folder, prefix) - leaveBytes < size
          if (full || !tryWrite(fd, size)) size /= 2
        }
      } finally {
        closeSync(fd)
      }
    },
    free: () => {
      if (existsSync(filler)) rmSync(filler)
    },
    remount: (how) => {
      // Busy while a process that was just killed still has a file open.
      for (let tries = 0; tries < 200; tries++) {
        if (spawnSync('nsenter', [...prefix.slice(1), 'mount', '-o', `remount,${how}`, folder]).status === 0) return
        spawnSync('sleep', ['0.05'])
      }
      throw new Error(`the disk could not be mounted ${how}`)
    },
  }
}

function freeBytes(folder: string, [file = '', ...prefix]: readonly string[]): number {
  const { stdout } = spawnSync(file, [...prefix, 'stat', '--file-system', '--format=%a %S', folder], {
    encoding: 'utf8',
  })
  const [blocks = 0, size = 0] = stdout.trim().split(' ').map(Number)
  return blocks * size
}

function tryWrite(fd: number, size: number): boolean {
  try {
    return writeSync(fd, Buffer.alloc(size)) === size
  } catch {
    return false
  }
}
