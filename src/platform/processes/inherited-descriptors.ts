import { openSync, readdirSync, readFileSync } from 'node:fs'
import { lazy } from '../lazy.ts'

/**
 * Entries for `stdio` of a new process, from the given number on, that cover what we have inherited ourselves: Node and a
 * shell pass on every unmarked descriptor, including those of the program that started Ralph.
 */
export function coverInherited(from: number): (number | 'ignore')[] {
  const inherited = inheritedDescriptors().filter((fd) => fd >= from)
  if (inherited.length === 0) return []
  const nothing = openNothing()
  const last = Math.max(...inherited)
  return Array.from({ length: last - from + 1 }, (_, index) => (inherited.includes(from + index) ? nothing : 'ignore'))
}

/** Stays open: every program that Ralph starts may need it. */
const openNothing = lazy(() => openSync('/dev/null', 'r+'))

const closeOnExec = 0o2000000

function inheritedDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fdinfo').map(Number).filter(isInherited)
  } catch {
    return []
  }
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // Closed since the list was read.
    return false
  }
}
