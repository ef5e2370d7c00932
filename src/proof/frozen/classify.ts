import { posix } from 'node:path'
import type { FrozenTable, KeyRule } from './frozen-table.ts'
import { globMatcher, isAnchored } from './glob.ts'

export type FrozenKind = 'test' | 'found' | 'support' | 'setting' | 'keys' | 'lock' | 'drop' | 'shadow' | 'source'

/** What the user says in SPRINT.yaml. */
export type FrozenRules = {
  /** Globs that are frozen too, as tests are. */
  readonly frozen: readonly string[]
  /** Globs that the agent may change. */
  readonly mayChange: readonly string[]
  /** Paths of scripts that the checks run: settings, unless they are tests. */
  readonly scripts?: readonly string[]
  /** Paths of sources that only tests use. */
  readonly helpers?: readonly string[]
  /** Paths of files whose tests ran at the start, of programs that checks run, and of new files
   *  that would be loaded in place of others, whatever their names are. */
  readonly tests?: readonly string[]
  /** Paths of sources that only a runner loads, by their names. */
  readonly found?: readonly string[]
}

export type Classifier = {
  readonly classify: (path: string) => FrozenKind
  /** Of a path of kind `keys`. */
  readonly keys: (path: string) => KeyRule | undefined
  /** Folders that hold a manifest; '' is the project. */
  readonly packageRoots: readonly string[]
  /** Names of ignored folders with installed packages, relative to a package root. */
  readonly dependencies: readonly string[]
  readonly caches: readonly string[]
  readonly isLock: (path: string) => boolean
  /** Whether a runner takes a file of that name, although code may have it. */
  readonly isFound: (path: string) => boolean
  /** Whether the user lets the agent change it: then a test counts as source. */
  readonly isReleased: (path: string) => boolean
  /** Whether the user froze it by a pattern of the sprint. */
  readonly isFrozenByUser: (path: string) => boolean
  /** A test, or what tests load, that the user lets the agent change. */
  readonly isReleasedTest: (path: string) => boolean
}

/** The first kind that matches wins: a `conftest.py` among the tests is a setting. */
const order = ['drop', 'lock', 'setting', 'test', 'support'] as const

/** What the paths of a tree say: which ecosystems count, and where packages begin. */
export type ProjectShape = { readonly ecosystems: ReadonlySet<string>; readonly packageRoots: ReadonlySet<string> }

export function readShape(table: FrozenTable, paths: readonly string[]): ProjectShape {
  const rows = Object.entries(table)
  const marked = rows.filter(([, { marks }]) => isMarked(marks, paths))
  const isManifest = globMatcher(marked.flatMap(([, { roots }]) => roots))
  return {
    ecosystems: new Set(marked.map(([name]) => name)),
    packageRoots: new Set(paths.filter((path) => isManifest(path)).map((path) => folderName(path))),
  }
}

/** Includes what a claim added: this freezes more, never less. */
export const joinShapes = (one: ProjectShape, other: ProjectShape): ProjectShape => ({
  ecosystems: new Set([...one.ecosystems, ...other.ecosystems]),
  packageRoots: new Set([...one.packageRoots, ...other.packageRoots]),
})

export function createClassifier(table: FrozenTable, shape: ProjectShape, rules: FrozenRules): Classifier {
  const active = Object.entries(table).flatMap(([name, row]) => (shape.ecosystems.has(name) ? [row] : []))
  const packageRoots = [...new Set(['', ...shape.packageRoots])]
  const roots = new Set(packageRoots)
  const matchers = order.map((kind) => [kind, matchFromRoots(active.flatMap((each) => each[kind]))] as const)
  const keyRules = new Map(active.flatMap(({ keys }) => Object.entries(keys)))
  const shadowed = new Set(active.flatMap(({ shadow }) => shadow))
  const matchFound = matchFromRoots(active.flatMap(({ found }) => found))
  const isReleased = globMatcher(rules.mayChange)
  const isAdded = globMatcher(rules.frozen)
  const scripts = new Set(rules.scripts)
  const helpers = new Set(rules.helpers)
  const tests = new Set(rules.tests)
  const found = new Set(rules.found)
  const views = (path: string) => [path, ...relativeToRoots(path, roots)]
  const kindByTable = (path: string): FrozenKind => {
    const seen = views(path)
    const kind = matchers.find(([name, matches]) => name === 'drop' && matches(seen))?.[0]
    if (kind !== undefined) return kind
    if (keyRules.has(posix.basename(path))) return 'keys'
    return matchers.find(([, matches]) => matches(seen))?.[0] ?? (isShadow(path, roots, shadowed) ? 'shadow' : 'source')
  }
  return {
    classify: (path) => {
      const kind = kindByTable(path)
      if (kind === 'drop') return kind
      if (isReleased(path)) return kind === 'lock' ? kind : 'source'
      if ((kind === 'source' || kind === 'support') && tests.has(path)) return 'test'
      if (kind === 'source' && found.has(path)) return 'found'
      if (kind === 'source' && scripts.has(path)) return 'setting'
      if (kind === 'source' && helpers.has(path)) return 'support'
      return isAdded(path) && kind !== 'keys' && kind !== 'setting' ? 'test' : kind
    },
    keys: (path) => keyRules.get(posix.basename(path)),
    packageRoots,
    dependencies: [...new Set(active.flatMap(({ dependencies }) => dependencies))],
    caches: [...new Set(active.flatMap(({ caches }) => caches))],
    isFound: (path) => !isReleased(path) && matchFound(views(path)),
    isReleased,
    isFrozenByUser: isAdded,
    isReleasedTest: (path) => isReleased(path) && ['test', 'support'].includes(kindByTable(path)),
    isLock: (path) => kindByTable(path) === 'lock',
  }
}

function isMarked(marks: readonly string[], paths: readonly string[]): boolean {
  const matches = globMatcher(marks)
  return marks.includes('**') || paths.some((path) => matches(path))
}

const folderName = (path: string): string => (path.includes('/') ? posix.dirname(path) : '')

/** The path as each package around it sees it. */
function relativeToRoots(path: string, roots: ReadonlySet<string>): string[] {
  const found: string[] = []
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    if (roots.has(path.slice(0, at))) found.push(path.slice(at + 1))
  return found
}

/** The first view is from the project's root; only patterns with a place of their own look from other roots. */
function matchFromRoots(globs: readonly string[]): (views: readonly string[]) => boolean {
  const fromProject = globMatcher(globs)
  const fromPackages = globMatcher(globs.filter(isAnchored))
  return ([path = '', ...others]) => fromProject(path) || others.some((view) => fromPackages(view))
}

/** Folders that Python looks for modules in before its own: the root, `src`, and those of tests. */
const modulePlace = /^(?:src\/|tests?\/)?([^/.]+)(?:\.py|\.(?:[\w-]+\.)*so|\/.*)$/

function isShadow(path: string, roots: ReadonlySet<string>, shadowed: ReadonlySet<string>): boolean {
  if (shadowed.size === 0) return false
  return [path, ...relativeToRoots(path, roots)].some((view) => shadowed.has(modulePlace.exec(view)?.[1] ?? ''))
}
