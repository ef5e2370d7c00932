import { posix } from 'node:path'

/** Files of the baseline. */
export type ProjectFiles = {
  readonly paths: readonly string[]
  /** Links among them: path and target. */
  readonly links: ReadonlyMap<string, string>
  readonly isTest: (path: string) => boolean
  /** Of those, what defines a check: scripts, makefiles, settings of runners. */
  readonly isSetting: (path: string) => boolean
  /** Texts in the order of the paths. */
  readonly read: (paths: readonly string[]) => Promise<readonly string[]>
  /** Paths of the files that contain one of the words. */
  readonly search: (words: readonly string[]) => Promise<readonly string[]>
}

/** More tests than this are not read. */
const maxTests = 3000
const maxSearches = 100
/** Words in one search. */
const maxWords = 500
const maxCharacters = 200_000

const code = /\.(?:[cm]?[jt]sx?|py|go|rs|sh|bash|bats|rb|php|java|kt|cs|mk)$|(?:^|\/)[Mm]akefile$/
const page = /\.(?:html?|vue|svelte|astro)$/
const data = /\.(?:jsonl?|ndjson|ya?ml|csv|tsv|txt|toml|xml|in|out|dat|golden)$/

/** Where data is the work itself, whatever else names it. */
const placesOfWork =
  /(?:^|\/)(?:src|lib|app|public|static|assets|content|docs?|locales?|i18n|lang|translations|messages|schemas?|templates?|config|migrations|k8s|kubernetes|deploy(?:ments?)?|charts?|helm|terraform|openapi|\.github)\//

const placesOfCode = /(?:^|\/)(?:src|lib|bin|app|cmd|pkg|cli|scripts|tools|examples?|dist|build)\//

const isWork = (path: string): boolean => placesOfWork.test(path) || placesOfCode.test(path)

/** What tests load by path although no pattern knows it: targets of links, included code, helper packages, plugins, data. */
export async function findTestAssets(files: ProjectFiles): Promise<string[]> {
  const { paths, isTest, read } = files
  const known = new Set(paths)
  const testPaths = paths.filter((path) => isTest(path) && code.test(path)).slice(0, maxTests)
  const texts = (await read(testPaths)).map((text) => text.slice(0, maxCharacters))
  const tests = testPaths.map((path, at) => ({ path, text: texts[at] ?? '' }))
  const named = tests
    .flatMap((test) => [...rustPaths(test), ...pluginPaths(test)])
    .filter((path) => known.has(path) && !placesOfWork.test(path))
  const found = [
    ...linkTargets(files),
    ...named,
    ...(await findSourced(files, tests)),
    ...(await findGoHelpers(files, tests)),
    ...(await findData(files, tests)),
    ...(await findEmbedded(files, tests)),
    ...(await findLooseTests(files)),
  ]
  return [...new Set(found)].filter((path) => !isTest(path))
}

type TestText = { readonly path: string; readonly text: string }

const saysTest = /(?:^|[/_.-])(?:tests?|testing|testlib|asserts?|assertions?|fixtures?)(?:[/_.-]|$)/i

function linkTargets({ paths, links, isTest }: ProjectFiles): string[] {
  const targets = [...links].flatMap(([path, target]) =>
    isTest(path) || isTest(`${path}/x.js`) ? [posix.join(posix.dirname(path), target)] : [],
  )
  return paths.filter((path) =>
    targets.some(
      (target) => (path === target || path.startsWith(`${target}/`)) && (!isWork(path) || saysTest.test(target)),
    ),
  )
}

/** The name beside the file that names it, or in the project. */
const listPlaces = (path: string, name: string): string[] => {
  const beside = posix.join(posix.dirname(path), name)
  return [beside, `${beside}.bash`, posix.normalize(name)]
}

/** `#[path = "…"]` and `include!("…")` of Rust. */
const rustPaths = ({ path, text }: TestText): string[] =>
  path.endsWith('.rs')
    ? [...text.matchAll(/#\[path\s*=\s*"([^"\n]+)"\]|\binclude(?:_str|_bytes)?!\s*\(\s*"([^"\n]+)"/g)].flatMap(
        ([, first, second]) => listPlaces(path, first ?? second ?? ''),
      )
    : []

/** `. file` and `source file` of shells, `load file` of bats. */
const sourcedPaths = ({ path, text }: TestText): string[] =>
  /\.(?:sh|bash|bats)$/.test(path)
    ? [
        ...text.matchAll(
          /(?:^|[;&|{]|\bthen\b|\bdo\b)[ \t]*(?:\.|source|load)[ \t]+["']?(?:\$\{?\w+\}?\/|\$\([^)]*\)\/)?([\w./-]+)/gm,
        ),
      ].flatMap(([, name = '']) => listPlaces(path, name))
    : []

const testFolder = /(?:^|\/)(?:tests?|__tests__|specs?)\//
const saysHelper = /(?:^|[/_.-])(?:helpers?|common|support)(?:[/_.-]|$)/i
const reportsCheck = /\bnot ok\b|\bFAIL(?:ED)?\b|\bassert|\bexpected\b.*\b(?:got|but|actual)\b/

/** Sourced files are the code under test, unless they bear the name of a helper, lie among the tests, or report what fails. */
async function findSourced(
  { paths, isTest, read, search }: ProjectFiles,
  tests: readonly TestText[],
): Promise<string[]> {
  const known = new Set(paths)
  const folders = new Set(tests.map(({ path }) => posix.dirname(path)).filter((folder) => folder !== '.'))
  const sourced = [...new Set(tests.flatMap(sourcedPaths))].filter((path) => known.has(path) && !isTest(path))
  const texts = await read(sourced)
  const found: string[] = []
  for (const [at, path] of sourced.entries()) {
    const isAmongTests = testFolder.test(path) || (folders.has(posix.dirname(path)) && !isWork(path))
    if (isAmongTests || saysTest.test(path)) found.push(path)
    else if (found.length < maxSearches && (saysHelper.test(path) || reportsCheck.test(texts[at] ?? ''))) {
      const users = (await search([posix.basename(path)])).filter((user) => code.test(user) && user !== path)
      if (users.every(isTest)) found.push(path)
    }
  }
  return found
}

/** Plugins of pytest that a conftest.py or a setting names. */
function pluginPaths({ path, text }: TestText): string[] {
  if (!/(?:^|\/)conftest\.py$/.test(path)) return []
  const [, names = ''] = /pytest_plugins\s*=\s*([[(]?[^\])]*)/.exec(text) ?? []
  return modulePaths([...names.matchAll(/["']([\w.]+)["']/g)].map(([, name = '']) => name))
}

/** Options of pytest: in a command, or as `addopts` of its settings, also over several lines. */
const pytestOptions = [
  /\bpytest[)}"']*[ \t]+([^;&|\n]*)/gi,
  /\bpy\.test[ \t]+([^;&|\n]*)/g,
  /addopts["']?\s*=\s*(\[[^\]]*\]|"""[^]*?"""|'''[^]*?'''|.*(?:\n[ \t]+\S.*)*)/gi,
]

/** `-p name` in a command or in `addopts`. Other programs give `-p` other meanings. */
export const pluginsOfOptions = (text: string): string[] =>
  pytestOptions
    .flatMap((pattern) => [...text.replaceAll('\\\n', ' ').matchAll(pattern)])
    .map(([, options = '']) => options.replaceAll(/["',[\s]+/g, ' '))
    .flatMap((options) =>
      modulePaths([...options.matchAll(/(?:^| )-p[ =]?([a-zA-Z_]\w*(?:\.\w+)*)/g)].map(([, name = '']) => name)),
    )

const modulePaths = (names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const place = name.replaceAll('.', '/')
    return ['', 'src/'].flatMap((root) => [`${root}${place}.py`, `${root}${place}/__init__.py`])
  })

const goImport = /^\s*(?:import\s+)?(?:[\w.]+\s+)?"([^"\s]+)"/gm
const helperPackage =
  /(?:^|[/_-])(?:(?:tests?|testing|asserts?|assertions?|expect|must|require|helpers?|checks?)(?:[_-]?(?:utils?|helpers?|lib|kit|tools?|env|support))?|(?:mock|fake|stub)\w*)$/

/** Packages of the module that only tests of other packages import, and that import `testing` or bear the name of a helper. */
async function findGoHelpers({ paths, read }: ProjectFiles, tests: readonly TestText[]): Promise<string[]> {
  if (!paths.includes('go.mod')) return []
  const [manifest = ''] = await read(['go.mod'])
  const [, module = ''] = /^module\s+(\S+)/m.exec(manifest) ?? []
  const listModules = (text: string) =>
    [...text.matchAll(goImport)].flatMap(([, name = '']) =>
      name.startsWith(`${module}/`) ? [name.slice(module.length + 1)] : [],
    )
  const byTests = new Set(
    tests
      .filter(({ path }) => path.endsWith('_test.go'))
      .flatMap(({ path, text }) => listModules(text).filter((folder) => folder !== posix.dirname(path))),
  )
  const sources = paths.filter((path) => path.endsWith('.go') && !path.endsWith('_test.go')).slice(0, maxTests)
  const texts = await read(sources)
  const isHelper = (folder: string): boolean =>
    helperPackage.test(folder) ||
    sources.some((path, at) => posix.dirname(path) === folder && /^\s*(?:import\s+)?"testing"/m.test(texts[at] ?? ''))
  const candidates = new Set([...byTests].filter(isHelper))
  for (const [at, path] of sources.entries())
    if (!candidates.has(posix.dirname(path))) for (const used of listModules(texts[at] ?? '')) candidates.delete(used)
  return sources.filter((path) => candidates.has(posix.dirname(path)))
}

/** Files that only tests embed. */
async function findEmbedded({ paths, isTest, search }: ProjectFiles, tests: readonly TestText[]): Promise<string[]> {
  const known = new Set(paths)
  const embedded = tests
    .filter(({ path }) => path.endsWith('_test.go'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^\/\/go:embed[ \t]+(.+)$/gm)].flatMap(([, names = '']) =>
        names.split(/\s+/).map((name) => posix.join(posix.dirname(path), name.replaceAll('"', ''))),
      ),
    )
  const found: string[] = []
  for (const path of [...new Set(embedded)].filter((name) => known.has(name)).slice(0, maxSearches)) {
    const users = (await search([posix.basename(path)])).filter((user) => user.endsWith('.go'))
    if (users.every(isTest)) found.push(path)
  }
  return found
}

const assertion = /['"](?:node:)?assert(?:\/strict)?['"]|['"](?:chai|expect|should|node:test)['"]/

/** Scripts that assert something about code in another folder, and that no other code loads: tests that an own runner finds. */
async function findLooseTests({ paths, isTest, read, search }: ProjectFiles): Promise<string[]> {
  const likely = paths.filter(
    (path) => /^[^/]+\/.*\.[cm]?[jt]s$/.test(path) && !isTest(path) && !placesOfCode.test(path),
  )
  const contents = await read(likely.slice(0, maxSearches * 5))
  const loose = likely.filter((_, at) => assertion.test(contents[at] ?? '') && /['"]\.\.\//.test(contents[at] ?? ''))
  const found: string[] = []
  for (const path of loose.slice(0, maxSearches)) {
    const name = posix.basename(path).replace(/\.\w+$/, '')
    const words = ["'", '"'].flatMap((quote) => [`/${name}${quote}`, `/${posix.basename(path)}${quote}`])
    const folder = posix.dirname(path)
    const users = (await search(words)).filter((user) => code.test(user) && user !== path && !loose.includes(user))
    const isLoaded = (await read(users)).some((text, at) =>
      words.some(
        (word) =>
          text.includes(`${posix.basename(folder)}${word}`) ||
          (posix.dirname(users[at] ?? '') === folder && text.includes(`.${word}`)),
      ),
    )
    if (!isLoaded) found.push(path)
  }
  return found
}

const saysData =
  /(?:^|\/)data\/|(?:^|[/_.-])(?:expected|expectations?|cases?|testcases?|fixtures?|golden|goldens|snapshots?|snap|testdata|tests?|scenarios?|samples?|vectors?|corpus|answers?|inputs?|outputs?|baselines?|mocks?)(?:[/_.-]|$)/i

/**
 * Data that tests name, or whose folder they name, and no other code does. What only scripts and settings name may be the work
 * itself, unless it lies beside them; so may what neither lies among tests nor is named as data of tests.
 */
async function findData(
  { paths, isTest, isSetting, read, search }: ProjectFiles,
  tests: readonly TestText[],
): Promise<string[]> {
  const plain = tests.filter(({ path }) => !isSetting(path))
  const [names, allNames] = [plain, tests].map((some) => readNames(some.map(({ text }) => text)))
  const folders = new Set(plain.map(({ path }) => posix.dirname(path)))
  const scriptFolders = new Set(tests.map(({ path }) => posix.dirname(path)))
  const isNamed = (path: string): boolean => {
    const folder = posix.dirname(path)
    if (folder === '.') return folders.has('.') && isIn(path, names)
    return isIn(path, names) || (scriptFolders.has(folder) && isIn(path, allNames))
  }
  const isOfTests = (path: string): boolean => {
    const folder = posix.dirname(path)
    return (
      saysData.test(path.replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')) ||
      testFolder.test(path) ||
      (folder !== '.' && scriptFolders.has(folder))
    )
  }
  const candidates = paths
    .filter((path) => data.test(path) && !isTest(path) && !placesOfWork.test(path) && isOfTests(path) && isNamed(path))
    .slice(0, maxTests)
  const words = [...new Set(candidates.flatMap(listWords))]
  const users = new Set<string>()
  for (let at = 0; at < words.length; at += maxWords)
    for (const user of await search(words.slice(at, at + maxWords)))
      if ((code.test(user) || page.test(user)) && !isTest(user)) users.add(user)
  const loaded = readNames(await read([...users]))
  return candidates.filter((path) => !isIn(path, loaded))
}

/** How code names a file, or lists its folder. */
function listWords(path: string): string[] {
  const [name, folder] = [posix.basename(path), posix.basename(posix.dirname(path))]
  if (folder === '.' || folder === '') return [name]
  return [
    name,
    `${folder}/`,
    ...["'", '"', '`'].flatMap((quote) => [`${quote}${folder}${quote}`, `/${folder}${quote}`]),
  ]
}

/** What texts name: files and parts of paths; folders as `name/`, `'name'` or `/name'`. Each text is read once. */
type Names = { readonly files: ReadonlySet<string>; readonly folders: ReadonlySet<string> }

const separators = /[\s'"`/\\()[\]{},;:=<>|&$*?!#]+/

const word = /(^|[\s'"`/\\()[\]{},;:=<>|&$*?!#])([^\s'"`/\\()[\]{},;:=<>|&$*?!#]+)(?=([^]?))/g

function readNames(texts: readonly string[]): Names {
  const [files, folders] = [new Set<string>(), new Set<string>()]
  for (const text of texts)
    for (const [, before = '', name = '', after = ''] of text.matchAll(word)) {
      files.add(name.replace(/\.$/, ''))
      if (after === '/' || (/['"`]/.test(after) && (before === '/' || before === after))) folders.add(name)
    }
  return { files, folders }
}

function isIn(path: string, names: Names | undefined): boolean {
  const parts = posix.basename(path).split(separators)
  return (
    names !== undefined &&
    (parts.every((part) => names.files.has(part)) || names.folders.has(posix.basename(posix.dirname(path))))
  )
}
