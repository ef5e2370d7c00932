import { readFileSync } from 'node:fs'

type Entry = { readonly path: string; readonly flags: readonly string[] }

/** Restrictions of the mount that holds a path, which a mount over it in a user namespace has to repeat. */
export function mountFlags(path: string): readonly string[] {
  const around = mountTable().filter((entry) => isWithin(path, entry.path))
  const nearest = around.reduce<Entry | undefined>(
    (best, entry) => (best && best.path.length > entry.path.length ? best : entry),
    undefined,
  )
  return nearest?.flags ?? []
}

/** Where other file systems are mounted below a folder. */
export const mountsBelow = (folder: string): string[] => [
  ...new Set(
    mountTable()
      .map(({ path }) => path)
      .filter((path) => path !== folder && isWithin(path, folder)),
  ),
]

const locked = ['nosuid', 'nodev', 'noexec']

function mountTable(): readonly Entry[] {
  const now = performance.now()
  if (table && now - table.readAt < keepMs) return table.entries
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n')
  const entries = lines.map((line): Entry => {
    const [, , , , path = '/', options = ''] = line.split(' ')
    // Blanks and similar characters are written as three octal digits.
    const plain = path.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
    return { path: plain, flags: options.split(',').filter((option) => locked.includes(option)) }
  })
  table = { readAt: now, entries }
  return entries
}

const keepMs = 1000
/** Read once per second at most: building one cell asks many times. */
let table: { readonly readAt: number; readonly entries: readonly Entry[] } | undefined

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
