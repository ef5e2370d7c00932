import { openSync, readdirSync, readFileSync } from 'node:fs'
import { lazy } from '../lazy.ts'

/**
 * Entries for `stdio` of a new process, from descriptor `from` on, that replace every descriptor Ralph has inherited by
 * /dev/null. Without them the process inherits them too, such as files of the program that started Ralph.
 */
export function replaceInheritedDescriptors(from: number): (number | 'ignore')[] {
  const inherited = listInheritedDescriptors().filter((fd) => fd >= from)
  if (inherited.length === 0) return []
  const devNull = openDevNull()
  const last = Math.max(...inherited)
  return Array.from({ length: last - from + 1 }, (_, index) => (inherited.includes(from + index) ? devNull : 'ignore'))
}

/** Stays open: every program that Ralph starts may need it. */
const openDevNull = lazy(() => openSync('/dev/null', 'r+'))

const closeOnExec = 0o2000000

function listInheritedDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fdinfo').map(Number).filter(isInheritable)
  } catch {
    return []
  }
}

function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // Closed since the list was read.
    return false
  }
}
