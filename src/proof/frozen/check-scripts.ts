import { posix } from 'node:path'

type ReadFile = (path: string) => Promise<string | undefined>

/** Scripts call scripts; deeper than this is not followed. */
const depth = 4

/** Only what looks like a part of a check: a command names sources too, and those are the work itself. */
const isScript =
  /\.(?:sh|bash|zsh)$|^(?:scripts?|tools|ci|\.ci|hack|build-aux)\/|(?:^|[/_.-])(?:tests?|checks?|verify|lint|spec)(?:[/_.-]|$)/i

/** A shell script among the sources is the subject of the tests. */
const isSource = (path: string): boolean =>
  /^(?:src|lib|bin|app|cmd|pkg|cli)\//.test(path) &&
  !/(?:^|[/_.-])(?:tests?|checks?|verify|lint|spec)(?:[/_.-]|$)/i.test(path)

/** Scripts of the baseline that the checks run, directly, through package.json, a makefile, or one another. */
export async function findCheckScripts(
  commands: readonly string[],
  paths: readonly string[],
  read: ReadFile,
): Promise<string[]> {
  const known = new Set(paths)
  const found = new Set<string>()
  const opened = new Set<string>()
  const settings = paths.filter((path) => runnerSettings.test(posix.basename(path)))
  let texts = [...commands, ...(await Promise.all(settings.map(async (path) => (await read(path)) ?? '')))]
  for (let level = 0; level < depth && texts.length > 0; level++) {
    const next: string[] = []
    for (const text of texts) {
      const preloaded = preloadedPaths(text, known)
      for (const path of includedPaths(text)) found.add(path)
      for (const path of new Set([...preloaded, ...namedPaths(text, known)])) {
        if (found.has(path) || !(preloaded.has(path) || (isScript.test(path) && !isSource(path)))) continue
        found.add(path)
        next.push((await read(path)) ?? '')
      }
      for (const file of definitions(text, known)) {
        if (opened.has(`${file} ${text}`)) continue
        opened.add(`${file} ${text}`)
        const content = (await read(file)) ?? ''
        next.push(...(file.endsWith('package.json') ? npmScripts(text, content) : [content]))
      }
    }
    texts = next.filter((text) => text.length < 200_000)
  }
  return [...found]
}

function namedPaths(text: string, known: ReadonlySet<string>): string[] {
  const words = text.split(/[\s;&|()<>"'`$=,:@]+/).filter((word) => word !== '' && !word.startsWith('/'))
  const plain = words.map((word) =>
    posix.normalize(word.replace(/^\{?\w*\}?\//, (part) => (part === './' ? '' : part))),
  )
  return [...new Set(plain)].filter((word) => known.has(word))
}

/** What a runner loads before the tests: an option of the command, or a key of its settings. */
const preload =
  /(?:--(?:import|require|loader|experimental-loader|preload|setup\w*|globalSetup)|(?<=\s)-r|\b(?:setupFiles\w*|globalSetup|globalTeardown|snapshotSerializers|testEnvironment|testRunner|bootstrap|preload|require))["']?[\s=:[]+((?:["']?[\w@./<>-]+["']?[\s,]*)+)/g

function preloadedPaths(text: string, known: ReadonlySet<string>): ReadonlySet<string> {
  const named = [...text.matchAll(preload)].map(([, paths = '']) => paths.replaceAll('<rootDir>/', ''))
  return new Set(named.flatMap((paths) => namedPaths(paths, known)))
}

/** What a makefile includes, also where it is not there yet: then the agent would be the first to write it. */
const includedPaths = (text: string): string[] =>
  [...text.matchAll(/^(?:-|s)?include[ \t]+(.+)$/gm)]
    .flatMap(([, names = '']) => names.split(/\s+/))
    .filter((name) => /^[\w.][\w./-]*$/.test(name))
    .map((name) => posix.normalize(name))

/** Settings of runners, which name files that are loaded before the tests. */
const runnerSettings =
  /^(?:(?:vitest|vite|jest|ava|playwright|cypress|wdio|karma)\.(?:config|workspace)\.\w+|\.mocharc.*|bunfig\.toml|phpunit\.xml.*|\.rspec|jest\.preset\.\w+)$/

/** Files that say what a command does. */
const definitions = (text: string, known: ReadonlySet<string>): string[] => [
  ...(/\b(?:npm|pnpm|yarn|bun)\b/.test(text) && known.has('package.json') ? ['package.json'] : []),
  ...(/\bg?make\b/.test(text)
    ? ['GNUmakefile', 'makefile', 'Makefile'].filter((name) => known.has(name)).slice(0, 1)
    : []),
  ...(/\bjust\b/.test(text) ? ['justfile', '.justfile'].filter((name) => known.has(name)) : []),
]

/** The scripts of package.json that a command runs. */
function npmScripts(command: string, manifest: string): string[] {
  try {
    const parsed: unknown = JSON.parse(manifest)
    if (typeof parsed !== 'object' || parsed === null || !('scripts' in parsed)) return []
    const scripts = new Map(Object.entries(parsed.scripts ?? {}).map(([name, text]) => [name, String(text)]))
    const words = command.split(/[\s;&|]+/)
    return words.flatMap((word) => [`pre${word}`, word, `post${word}`].flatMap((name) => scripts.get(name) ?? []))
  } catch {
    return []
  }
}
