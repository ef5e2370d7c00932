import { readFileSync, lstatSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Sockets below a folder. The kernel lists them by the name that they were bound with; only a relative name makes a look at the
 * files themselves necessary.
 */
export async function findSockets(folder: string): Promise<string[]> {
  const names = boundNames()
  const absolute = names.filter((name) => name.startsWith(`${folder}/`)).filter(isSocket)
  return names.some(isRelative) ? [...new Set([...absolute, ...(await walk(folder))])] : [...new Set(absolute)]
}

const isRelative = (name: string): boolean => !name.startsWith('/') && !name.startsWith('@')

function boundNames(): string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n').slice(1)
    return lines.map((line) => line.split(/\s+/).slice(7).join(' ')).filter((name) => name !== '')
  } catch {
    return []
  }
}

const isSocket = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false

/** Enough for a work tree; more would make every attempt slow. */
const maxEntries = 50_000

async function walk(folder: string): Promise<string[]> {
  const found: string[] = []
  const queue = [folder]
  for (let entries = 0; entries < maxEntries;) {
    const next = queue.pop()
    if (next === undefined) return found
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      entries++
      const path = join(next, entry.name)
      if (entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== '.git') queue.push(path)
      if (entry.isSocket()) found.push(path)
    }
  }
  return found
}
