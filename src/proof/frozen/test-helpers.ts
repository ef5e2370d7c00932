import { posix } from 'node:path'

type Sources = {
  readonly paths: readonly string[]
  readonly isTest: (path: string) => boolean
  /** Texts in the order of the paths. */
  readonly read: (paths: readonly string[]) => Promise<readonly string[]>
  /** Paths of the files that contain one of the words. */
  readonly search: (words: readonly string[]) => Promise<readonly string[]>
}

/** More tests than this are not read. */
const maxTests = 3000
const maxHelpers = 100
const maxCharacters = 200_000

/** Helpers import helpers; deeper than this is not followed. */
const depth = 3

/**
 * Files outside of the tests that exist for them: tests import them, no other source does, and they import a library for
 * tests or are named as what they are. A file that only its own test imports is the work itself.
 */
export async function findTestHelpers(sources: Sources): Promise<string[]> {
  const { paths, isTest, read } = sources
  const known = new Set(paths)
  const helpers = new Set<string>()
  let level = paths.filter((path) => isTest(path) && isCode.test(path)).slice(0, maxTests)
  for (let n = 0; n < depth && level.length > 0; n++) {
    const texts = await read(level)
    const named = new Set(
      level.flatMap((path, at) => listImports(path, (texts[at] ?? '').slice(0, maxCharacters), known)),
    )
    const fresh = [...named].filter((path) => !isTest(path) && !helpers.has(path)).slice(0, maxHelpers)
    const contents = await read(fresh)
    const likely = fresh.filter((path, at) => looksLikeHelper(path, contents[at] ?? ''))
    const used = await findOtherUsers(sources, likely, known, helpers)
    level = likely.filter((path) => !used.has(path))
    for (const path of level) helpers.add(path)
  }
  for (const path of await findTestData(sources, helpers)) helpers.add(path)
  return [...helpers]
}

const expectedData =
  /(?:^|[/_.-])(?:expected|expectations?|cases?|golden|reference|approved|snapshots?|samples?|vectors?)(?:[/_.-]|$)/i

/** Data that tests name and no source does, and whose name says that tests compare with it. */
async function findTestData({ paths, isTest, search }: Sources, helpers: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = []
  const candidates = paths.filter((path) => !isTest(path) && !isCode.test(path) && expectedData.test(path))
  for (const path of candidates.slice(0, maxHelpers)) {
    const users = (await search([posix.basename(path)])).filter((user) => user !== path)
    if (users.length > 0 && users.every((user) => isTest(user) || helpers.has(user))) found.push(path)
  }
  return found
}

export const isCode = /\.(?:[cm]?[jt]sx?|py)$/

const testLibrary =
  /['"](?:node:test|vitest|@jest\/globals|jest|mocha|ava|tap|tape|uvu|chai|expect|sinon|should|@playwright\/test|@testing-library\/[^'"]+)['"]|^\s*(?:import|from)\s+(?:pytest|unittest|hypothesis|nose2?)\b/m
const assertions = /['"](?:node:)?assert(?:\/strict)?['"]|^\s*assert\b/m
const certainName =
  /(?:^|\/)(?:support|testing|test[-_]?(?:utils?|helpers?|support|lib|kit)|spec[-_]?(?:utils?|helpers?|support))(?:\/|\.\w+$)/i
const possibleName =
  /(?:^|[/_.-])(?:helpers?|utils?|assert(?:ions?)?|expect(?:ations?)?|matchers?|checks?|mocks?|fakes?|stubs?)(?:[/_.-]|$)/i

const looksLikeHelper = (path: string, text: string): boolean =>
  testLibrary.test(text) || certainName.test(path) || (possibleName.test(path) && assertions.test(text))

/** Candidates that a manifest names, or that a source imports which is neither a test nor a helper. */
async function findOtherUsers(
  { isTest, read, search }: Sources,
  candidates: readonly string[],
  known: ReadonlySet<string>,
  helpers: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (candidates.length === 0) return new Set()
  const candidatePaths = new Set(candidates)
  const found = await search([...new Set(candidates.map(moduleName))])
  const others = found.filter(
    (path) => isCode.test(path) && !isTest(path) && !helpers.has(path) && !candidatePaths.has(path),
  )
  const texts = await read(others)
  const imported = others.flatMap((path, at) => listImports(path, texts[at] ?? '', known))
  const manifests = (await read(found.filter((path) => /(?:^|\/)package\.json$/.test(path)))).join('\n')
  const isEntry = (path: string) => manifests.includes(`/${posix.basename(path)}"`) || manifests.includes(`"${path}"`)
  return new Set(candidates.filter((path) => imported.includes(path) || isEntry(path)))
}

/** How an import names the file. */
function moduleName(path: string): string {
  const name = posix.basename(path).replace(/\.\w+$/, '')
  return name === 'index' || name === '__init__' ? posix.basename(posix.dirname(path)) : name
}

type KnownPaths = Pick<ReadonlySet<string>, 'has'>

/** Files of the project that a file imports. */
export function listImports(path: string, text: string, known: KnownPaths): string[] {
  return path.endsWith('.py') ? pythonImports(path, text, known) : nodeImports(path, text, known)
}

const nodeImport = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"](\.{1,2}\/[^'"\n]+)['"]/g
const endings = [
  '',
  '.js',
  '.ts',
  '.mjs',
  '.cjs',
  '.mts',
  '.cts',
  '.jsx',
  '.tsx',
  '/index.js',
  '/index.ts',
  '/index.mjs',
]

function nodeImports(path: string, text: string, known: KnownPaths): string[] {
  return [...text.matchAll(nodeImport)].flatMap(([, name = '']) => {
    const at = posix.join(posix.dirname(path), name)
    // TypeScript names the file that the build makes.
    const stem = at.replace(/\.([cm]?)jsx?$/, '.$1ts')
    return [...endings.map((ending) => at + ending), stem, `${stem}x`].find((file) => known.has(file)) ?? []
  })
}

const pythonCall = /\b(?:import_module|__import__)\(\s*['"]([\w.]+)['"]/g
const pythonImport = /^\s*(?:from\s+(\.*)([\w.]*)\s+import\s+([\w ,*()]+)|import\s+([\w.]+))/gm

function pythonImports(path: string, text: string, known: KnownPaths): string[] {
  const called = [...text.matchAll(pythonCall)].map(([, name = '']): (string | undefined)[] => ['', '', '', '', name])
  return [...text.matchAll(pythonImport), ...called].flatMap(([, dots = '', module = '', names = '', plain]) => {
    const folder = dots === '' ? undefined : posix.join(posix.dirname(path), '../'.repeat(dots.length - 1))
    const target = (plain ?? module).replaceAll('.', '/')
    const inside = names.split(/[\s,()]+/).filter((name) => name !== '' && name !== '*')
    const modules = [target, ...inside.map((name) => posix.join(target, name))]
    const places = folder === undefined ? ['', 'src', posix.dirname(path)] : [folder]
    return places.flatMap((place) =>
      modules.flatMap((name) =>
        [`${posix.join(place, name)}.py`, posix.join(place, name, '__init__.py')].filter((file) => known.has(file)),
      ),
    )
  })
}
