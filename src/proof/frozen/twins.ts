import { posix } from 'node:path'
import type { OwnGit, TreeChange } from '../room/own-git.ts'

const script = /\.(?:[cm]?[jt]sx?|json|node)$/
const endings = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.jsx', '.tsx', '.json']

/**
 * New files that a test of the start would load in place of one that is still there, because they share its name: `sum` or
 * `sum.mjs` beside `sum.js`, `sum/__init__.py` beside `sum.py`, `calc/` beside `src/calc/`. What the old file names is a split,
 * and a program that loads it is a start for it. A frozen file is always there, with its text of the start.
 */
export async function findTwins(
  own: Pick<OwnGit, 'readBlobs'>,
  paths: readonly string[],
  changes: readonly TreeChange[],
  isFrozen: (path: string) => boolean,
): Promise<string[]> {
  const changed = new Map(changes.map((change) => [change.path, change]))
  const known = new Set(paths)
  const left = new Set(paths.filter((path) => changed.get(path)?.after !== undefined || !changed.has(path)))
  const found: string[] = []
  for (const { path, before, after } of changes) {
    if (before !== undefined || after === undefined) continue
    const all = listTwins(path).filter((twin) => known.has(twin))
    if (all.some(isFrozen)) {
      found.push(path)
      continue
    }
    const twins = all.filter((twin) => left.has(twin))
    if (twins.length === 0) continue
    const entries = twins.flatMap((twin) => changed.get(twin)?.after?.id ?? [])
    const texts = (await own.readBlobs(entries)).map(String)
    if (texts.some((text) => text.includes(splitName(path)))) continue
    const [text] = posix.extname(path) === '' ? (await own.readBlobs([after.id])).map(String) : []
    if (text === undefined || !twins.some((twin) => loads(text, posix.basename(twin)))) found.push(path)
  }
  return found
}

/** A line that is no comment loads the file. */
const loads = (text: string, name: string): boolean =>
  text
    .split('\n')
    .some(
      (line) =>
        !/^\s*(?:\/\/|\/?\*|#)/.test(line) &&
        /\b(?:require|import|from|exec|node)\b/.test(line) &&
        line.includes(`/${name}`),
    )

/** How a file names the other one that it was split into. */
const splitName = (path: string): string =>
  /\/(?:index\.\w+|__init__\.py)$/.test(path) ? `/${posix.basename(posix.dirname(path))}` : `/${posix.basename(path)}`

/** Paths whose place a new file would take. */
function listTwins(path: string): string[] {
  const folder = posix.dirname(path)
  if (/\.d\.[cm]?ts$/.test(path) || /\.(?:test|spec)\./.test(path)) return []
  if (path.endsWith('.py') || /\.(?:so|pyd)$/.test(path)) return listPythonTwins(path)
  const stem = /^index\.\w+$/.test(posix.basename(path))
    ? folder
    : posix.basename(path).includes('.')
      ? path.replace(script, '')
      : path
  if (stem === '.' || (stem === path && posix.basename(path).includes('.'))) return []
  return [...endings.map((end) => stem + end), `${stem}/index.js`, `${stem}/index.ts`].filter((twin) => twin !== path)
}

function listPythonTwins(path: string): string[] {
  const stem = path.replace(/(?:\/__init__)?(?:\.[\w-]+)*\.(?:py|so|pyd)$/, '')
  const [top = ''] = path.split('/')
  const inSource = path.startsWith('src/')
    ? []
    : [`src/${path}`, `src/${top.replace(/\.py$/, '')}/__init__.py`, `src/${top}`]
  return [...(stem === '' ? [] : [`${stem}.py`, `${stem}/__init__.py`]), ...inSource].filter((twin) => twin !== path)
}
