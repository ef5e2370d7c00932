// Metrics of the code base (names, comments, folders). With --check: refuses what breaks "Voice" in AGENTS.md or a limit.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findKnots } from './house/knots.mjs'
import {
  countModeBranches,
  countModuleLets,
  countWayQuestions,
  findExcess,
  folderSizes,
  limits,
} from './house/limits.mjs'
import { commentsIn, countOddWords, findOddProse, findViolations } from './house/voice.mjs'
import { countWalk, parseWalk } from './house/walks.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const checked = ['src', 'test', 'scripts', 'bench', 'conformance']
const pages = ['README.md', 'CHANGELOG.md', 'CONTEXT.md', 'SECURITY.md']
const proseFolders = ['docs', 'plugin', 'assets/templates', 'assets/demo', 'assets/workflows', 'assets/migrations']

const files = checked.flatMap((folder) => filesIn(folder, /\.(tsx?|mjs|cjs)$/))
const prose = [...pages.map(readText), ...proseFolders.flatMap((folder) => filesIn(folder, /\.(md|ya?ml|json|sql)$/))]
const sources = files.filter(({ path }) => path.startsWith('src/') && !path.includes('.test.'))

const violations = [...files.flatMap(findViolations), ...prose.flatMap(findOddProse)]
const figures = measure()
if (process.argv.includes('--check')) {
  for (const { path, line, rule, text } of violations) console.error(`${path}:${line} ${rule}: ${text}`)
  if (violations.length > 0) console.error(`${violations.length} places do not follow "Voice" in AGENTS.md`)
  const excess = [...findExcess(sources), ...findKnots(sources).map((knot) => `folders import each other: ${knot}`)]
  for (const line of excess) console.error(line)
  process.exitCode = violations.length + excess.length > 0 ? 1 : 0
} else {
  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(56)} ${value}`)
}

function measure() {
  const definitions = sources
    .flatMap(({ path, text }) => definitionsIn(text).map((found) => ({ ...found, path })))
    .filter(({ kind }) => kind !== 'const' && kind !== 'let')
  const functions = definitions.filter(({ kind }) => kind === 'function')
  const homes = new Map()
  for (const { name, path } of definitions) homes.set(name, (homes.get(name) ?? new Set()).add(path))
  const shared = definitions.filter(({ name }) => homes.get(name).size > 1)
  if (process.argv.includes('--shared')) {
    for (const [name, paths] of homes) if (paths.size > 1) console.log(name, [...paths].join(' '))
  }
  const comments = sources.flatMap(({ text }) => commentsIn(text).map(({ text: comment }) => comment))
  const words = comments.join(' ').split(/\s+/).length
  const crowded = folderSizes(sources)
    .filter(([, size]) => size > limits.filesPerFolder)
    .map(([name, size]) => `${name} ${size}`)
  return {
    'source files': sources.length,
    'source lines': sources.reduce((sum, { text }) => sum + text.split('\n').length, 0),
    'odd words per 10,000 words of comments': ((countOddWords(comments) / words) * 10_000).toFixed(1),
    'top-level functions ending in Of': functions.filter(({ name }) => name.endsWith('Of')).length,
    'definitions that share their name with another file': `${((shared.length / definitions.length) * 100).toFixed(1)} % (${shared.length} of ${definitions.length})`,
    'branches on mode and protocol': countModeBranches(sources),
    'questions about the way (isGoalDriven, isNotesProtocol)': countWayQuestions(sources),
    'module-level let': countModuleLets(sources),
    'folders with more than 24 files': crowded.length === 0 ? 'none' : crowded.join(', '),
    'knots between folders of one layer': findKnots(sources).join('; ') || 'none',
    'walk from ralph run to PROGRESS.yaml': describeWalk('run'),
    'walk from the click on Start to the page': describeWalk('click'),
  }
}

/** `test/house.test.ts` verifies the walks. */
function describeWalk(name) {
  const text = readFileSync(new URL(`house/walks/${name}.txt`, import.meta.url), 'utf8')
  const { functions, files: opened, backTracks } = countWalk(parseWalk(text))
  return `${functions} functions in ${opened} files, ${backTracks} back-tracks`
}

function definitionsIn(text) {
  const found = text.matchAll(
    /^(?:export )?(?:(?:async )?(function)\*? |(const|let|type|interface|class) )([A-Za-z_$][\w$]*)(.*)$/gm,
  )
  return [...found].map(([, isFunction, keyword, name, rest]) => ({
    name,
    kind:
      isFunction || (keyword === 'const' && /=> *(\{|\(|$|[^=]*$)|= (async )?(<.*>)?\(/.test(rest))
        ? 'function'
        : (keyword ?? 'function'),
  }))
}

function filesIn(folder, names) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !/node_modules|\.d\.ts$|\/fixtures\//.test(path))
    .map(readText)
}

function readText(path) {
  return { path, text: readFileSync(join(root, path), 'utf8') }
}
