#!/usr/bin/env node
// Finds bubblewrap for the tests, or fetches Debian's package and unpacks it into a cache, without installing anything:
//   node scripts/install-bubblewrap.mjs
// Prints the folder to put on PATH. Exits with code 1 and the reason on stderr if this machine cannot have it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

const project = resolve(import.meta.dirname, '..')
const cache = join(project, '.cache', 'bubblewrap')
const unpacked = join(cache, 'usr', 'bin')

function folder() {
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .find((path) => path !== '' && existsSync(join(path, 'bwrap')))
  if (onPath !== undefined) return onPath
  if (!existsSync(join(unpacked, 'bwrap'))) download()
  return unpacked
}

function download() {
  mkdirSync(join(project, '.cache'), { recursive: true })
  const unfinished = mkdtempSync(`${cache}-`)
  try {
    run(unfinished, 'apt-get', 'download', 'bubblewrap')
    const [name] = readdirSync(unfinished).filter((file) => file.endsWith('.deb'))
    if (name === undefined) throw new Error('apt-get downloaded nothing')
    run(unfinished, 'dpkg-deb', '-x', name, '.')
    rmSync(cache, { recursive: true, force: true })
    renameSync(unfinished, cache)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

function run(cwd, file, ...args) {
  const { status, stderr, error } = spawnSync(file, args, { cwd, encoding: 'utf8', timeout: 60_000 })
  if (status !== 0) throw new Error(`${file} ${args[0]}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`)
}

try {
  const path = folder()
  const probe = ['--unshare-pid', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--', 'true']
  run('/', join(path, 'bwrap'), ...probe)
  console.log(path)
} catch (error) {
  console.error(`install-bubblewrap: ${error.message}`)
  process.exitCode = 1
}
