import { posix } from 'node:path'
import { globMatcher } from './glob.ts'
import { pluginsOfOptions } from './test-assets.ts'

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

export type CheckScripts = {
  /** Scripts that the checks run, directly, through package.json, a makefile, or one another. */
  readonly scripts: readonly string[]
  /** Programs that a check starts only for their exit code: builds, own runners. */
  readonly programs: readonly string[]
}

export async function findCheckScripts(
  commands: readonly string[],
  paths: readonly string[],
  read: ReadFile,
): Promise<CheckScripts> {
  const known = new Set(paths)
  const found = new Set<string>()
  const opened = new Set<string>()
  const readAll = (pattern: RegExp) =>
    Promise.all(
      paths.filter((path) => pattern.test(posix.basename(path))).map(async (path) => (await read(path)) ?? ''),
    )
  const settings = await readAll(pythonSettings)
  const programs = new Set([
    ...settings.flatMap(pluginsOfOptions).filter((path) => known.has(path)),
    ...listDocTests([...commands, ...settings], paths),
  ])
  let texts = [...commands, ...(await readAll(runnerSettings))].map(removeSyntaxChecks)
  for (let level = 0; level < depth && texts.length > 0; level++) {
    const next: string[] = []
    for (const text of texts) {
      const preloaded = preloadedPaths(text, known)
      for (const path of includedPaths(text)) found.add(path)
      for (const path of pluginsOfOptions(text)) if (known.has(path)) programs.add(path)
      for (const program of startedPrograms(text, known))
        if (judges(program, (await read(program.path)) ?? '', known)) programs.add(program.path)
      for (const path of namedPaths(text, known)) if (isLimit.test(path)) programs.add(path)
      for (const path of new Set([...preloaded, ...namedPaths(text, known)])) {
        if (found.has(path) || !(preloaded.has(path) || (isScript.test(path) && !isSource(path)))) continue
        found.add(path)
        const content = (await read(path)) ?? ''
        next.push(content)
        for (const hook of listHooks(path, content, known)) found.add(hook)
      }
      for (const file of definitions(text, known)) {
        if (opened.has(`${file} ${text}`)) continue
        opened.add(`${file} ${text}`)
        const content = (await read(file)) ?? ''
        next.push(...(file.endsWith('package.json') ? npmScripts(text, content) : [content]))
      }
    }
    texts = next.filter((text) => text.length < 200_000).map(removeSyntaxChecks)
  }
  return { scripts: [...found], programs: [...programs].filter((path) => !found.has(path)) }
}

/** A command that only parses programs says nothing about what they do: they are the work itself. */
const syntaxCheck =
  /(?<![\w./-])(?:(?:node|bun|tsx|ts-node)[ \t]+(?:--check|-c)|php[ \t]+(?:-l|--syntax-check)|(?:ruby|perl)[ \t]+-w?c|(?:sh|bash|zsh)[ \t]+-n)(?:[ \t]+[\w./][\w./-]*)+/g

const removeSyntaxChecks = (text: string): string => text.replaceAll(syntaxCheck, '')

const interpreter =
  /^(?:\w+=\S*\s+)*(?:node|bun|tsx|ts-node|deno\s+run|python3?|ruby|perl|php|sh|bash|zsh)\s+((?:-[\w-]+(?:=\S+)?\s+)*)([\w./-]+\.\w+)(?:\s|$)/

/** The names of programs that people write to be run, not to judge others. */
const isSubject = /(?:^|\/)(?:main|index|app|cli|server|start|program|solution|run_?server)\.\w+$/

/** The names of programs that people write to judge or to build others. */
const isJudge =
  /(?:^|[/_.-])(?:(?:tests?|specs?|checks?|verify|validate|lint|judge|suite|ci|build|bundle|compile|run(?:ner)?)(?:[/_.-]|$)|run-?(?:all|tests?|checks?))/i

const assertion =
  /\bassert|\bexpect\s*\(|\b(?:(?:process|sys|os)\._?exit|SystemExit)\(\s*(?!(?:0?|(?:await\s+)?(?:main|cli|run|app)\(.*)\s*\))|\bexitCode\s*=\s*[^0=\s]|\bexit[ (]\s*[1-9$]/i

/** Code beside the program, also where it is not there yet. */
const relativeImport =
  /\b(?:from|import|require|include)(?:_once)?\s*\(?\s*(?:__DIR__\s*\.\s*['"]|['"`]\.{1,2}\/)|\brequire_relative\b|^\s*from\s+\./m

type StartedProgram = { readonly path: string; readonly isTestRun: boolean }

/** Programs of a command whose output nothing reads: only their exit code counts. */
function startedPrograms(text: string, known: ReadonlySet<string>): StartedProgram[] {
  if (text.includes('\n') || /[|<>`]|\$\(/.test(text.replaceAll('||', '&&'))) return []
  return text.split(/&&|;|\|\|/).flatMap((part) => {
    const [, options = '', name = '.'] = interpreter.exec(part.trim()) ?? []
    const path = posix.normalize(name)
    const isTestRun = /(?:^|\s)--test\b/.test(options)
    return known.has(path) && !isSource(path) && !isSubject.test(path) ? [{ path, isTestRun }] : []
  })
}

/** Whether a started program judges other files; one that does not is the work itself. */
function judges({ path, isTestRun }: StartedProgram, text: string, known: ReadonlySet<string>): boolean {
  if (isTestRun || isJudge.test(path)) return true
  return assertion.test(text) && (relativeImport.test(text) || loadsKnownFile(path, text, known))
}

function loadsKnownFile(path: string, text: string, known: ReadonlySet<string>): boolean {
  const modules = [...text.matchAll(/^\s*(?:from|import)\s+([\w.]+)/gm)].map(([, name = '']) =>
    name.replaceAll('.', '/'),
  )
  const places = ['.', 'src', posix.dirname(path)]
  const isModule = (name: string): boolean =>
    places.some((place) => ['.py', '/__init__.py'].some((end) => known.has(posix.join(place, `${name}${end}`))))
  return modules.some(isModule) || namedPaths(text, known).some((named) => named !== path && /\.\w+$/.test(named))
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

/** Modules that a loaded one registers as hooks of the module loader. */
const listHooks = (path: string, text: string, known: ReadonlySet<string>): string[] =>
  [...text.matchAll(/\bregister\(\s*['"`](\.[^'"`]+)['"`]/g)]
    .map(([, name = '']) => posix.join(posix.dirname(path), name))
    .filter((name) => known.has(name))

/** Names of data that says how much a check demands. */
const isLimit =
  /(?:^|[/_.-])(?:limits?|thresholds?|budgets?|quality|coverage|minimums?|gates?|tolerances?)(?:[_.-][^/]*)?\.(?:jsonc?|ya?ml|toml|ini|txt|csv)$/i

/** Texts whose examples pytest runs, by a pattern of its options. */
const listDocTests = (texts: readonly string[], paths: readonly string[]): string[] =>
  paths.filter(
    globMatcher(
      texts.flatMap((text) =>
        [...text.matchAll(/--doctest-glob[=\s]\s*["']?([^\s"',\]]+)/g)].flatMap(([, glob]) => glob ?? []),
      ),
    ),
  )

/** What a makefile includes, also where it is not there yet: then the agent would be the first to write it. */
const includedPaths = (text: string): string[] =>
  [...text.matchAll(/^(?:-|s)?include[ \t]+(.+)$/gm)]
    .flatMap(([, names = '']) => names.split(/\s+/))
    .filter((name) => /^[\w.][\w./-]*$/.test(name))
    .map((name) => posix.normalize(name))

/** Settings of runners, which name files that are loaded before the tests. */
const runnerSettings =
  /^(?:(?:vitest|vite|jest|ava|playwright|cypress|wdio|karma)\.(?:config|workspace)\.\w+|\.mocharc.*|bunfig\.toml|phpunit\.xml.*|\.rspec|jest\.preset\.\w+)$/

/** They hold settings of many programs; only options of pytest load files before the tests. */
const pythonSettings = /^(?:pyproject\.toml|(?:\.?pytest|tox)\.ini|\.?pytest\.toml|setup\.cfg)$/

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
