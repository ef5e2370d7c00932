import { codeLanguage, maskCode } from '../mutate/code-text.ts'
import type { LeftFiles } from '../room/room.ts'
import type { Claim } from './open-proof.ts'

/** Ways for code to find out that tests are looking, or to answer in their place. Rare in honest work, and then a person says so. */
const signs: readonly RegExp[] = [
  /\b(?:NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST(?:_\w+)?|PYTEST_CURRENT_TEST|PYTEST_ADDOPTS|RUST_TEST_\w+|npm_lifecycle_\w+|npm_command)\b/,
  /\bsys\.(?:orig_argv|_getframe|settrace|setprofile|modules)\b|\bgc\.get_(?:objects|referrers)\b|\binspect\.(?:stack|currentframe)\b/,
  /\b__path__\b|\bos\._exit\b|\bprocess\.(?:reallyExit|binding|_\w+)\b|\b(?:prepare|capture)StackTrace\b/,
  /['"](?:node:)?v8['"]|['"](?:node:test|vitest|_?pytest|unittest)['"]|^\s*(?:import|from)\s+(?:_?pytest|unittest)\b/,
  /\/proc\/(?:self|\d|\$|['"`])|\b(?:argv|execArgv|cmdline|title)\b.*\b(?:test|tests|pytest|unittest|jest|mocha|vitest)\b/,
  /\bcfg!\(test\)|\bcfg\(not\(test\)\)|\bmacro_rules!\s*(?:assert|panic)|\btesting\.Testing\(|\bflag\.Lookup\("test\./,
  /\/\.room\b|\bhostname\(.*room|\bPYTHONPYCACHEPREFIX\b|\bNO_UPDATE_NOTIFIER\b|\benv(?:iron)?(?:\.|\W.*['"])CI\b|getenv\(['"]CI['"]/,
  /(?:stat(?:Sync)?|getmtime)\(.*(?:import\.meta|__file|current_exe)|\bpycache_prefix\b/,
  /\.stack\b.*(?:test|spec)|\.(?:getppid|ppid)\b/,
  /['"`](?:[^'"`]*\/)?\.claude(?=[/'"`])|\bnetworkInterfaces\(|\bif_nameindex\(|\bnet\.Interfaces\(/,
  /\b(?:process\.pid|[gG]etpid\(\)|process::id\(\))\s*[<>]|(?<![=-])[<>]=?\s*(?:process\.pid|os\.[gG]etpid\(\)|(?:std::)?process::id\(\))/,
  /(?:[sS]tarts_?[wW]ith|HasPrefix|includes)\([^)]*['"`]\/tmp\b|==\s*['"`]\/tmp\b|['"`]\/tmp\/\./,
  /['"`]\/(?:dev\/shm|var\/tmp|run\/user)\b/,
  /['"`]git (?:log|rev-list|reflog)\b|['"`]git['"`],\s*\[?['"`](?:log|rev-list|reflog)['"`]/,
]

const days = 24 * 60 * 60 * 1000

/** A time near now, in seconds or milliseconds: code that changes its behaviour soon. */
const namesAMoment = (line: string): boolean =>
  [...line.replaceAll('_', '').matchAll(/(?<![\w.])1\d{9}(?:\d{3})?(?![\w.])/g)].some(([number]) => {
    const at = number.length === 10 ? Number(number) * 1000 : Number(number)
    return Math.abs(at - Date.now()) < 30 * days
  })

/** A date of these weeks in one line with a clock. */
const comparesDate = (line: string): boolean =>
  /\b(?:Date|now|today|time|datetime|date)\b/i.test(line) &&
  [...line.matchAll(/\b(20\d\d)(?:-|,\s*)(\d{1,2})(?:-|,\s*)(\d{1,2})/g)].some(([text, year, month, day]) => {
    // The months of JavaScript begin with 0.
    const months = text.includes('-') ? [1] : [0, 1]
    return months.some((first) => {
      const at = Date.UTC(Number(year), Number(month) - first, Number(day))
      return Math.abs(at - Date.now()) < 30 * days
    })
  })

/** A moment of the next weeks in data: those of generators lie in the past. */
const namesFuture = (line: string): boolean =>
  line.length < 1000 &&
  [...line.matchAll(/\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g)].some(([text]) => {
    const ahead = Date.parse(text.replace(' ', 'T')) - Date.now()
    return ahead > 0 && ahead < 30 * days
  })

const listLines = (path: string, text: string, matches: (line: string) => boolean): string[] =>
  text.split('\n').flatMap((line, at) => (matches(line) ? [`${path}:${at + 1}`] : []))

/** Names as code has them: in quotes, or as the last part of a path. */
const namesFile = (line: string, names: ReadonlySet<string>): boolean =>
  [...line.matchAll(/([^/'"`]+)['"`]/g)].some(([, name = '']) => names.has(name))

/** Lines that name a file, if the same code also reads that file: output that is only written says nothing about later runs. */
function findReads(lines: readonly string[], names: ReadonlySet<string>): (line: string) => boolean {
  const naming = lines.filter((line) => namesFile(line, names))
  const variables = new Set(naming.flatMap((line) => /(\w+)\s*:?=(?!=)/.exec(line)?.[1] ?? []))
  const isNamed = (text: string) =>
    namesFile(text, names) || (text.match(/\w+/g) ?? []).some((word) => variables.has(word))
  const reads = (line: string) =>
    [...line.matchAll(readCall)].some(([, object = '', rest = '']) => isNamed(object + rest))
  return lines.some(reads) ? (line) => namesFile(line, names) : () => false
}

/** What it is called on, and its arguments. */
const readCall =
  /([^\s,;]*)(?:\b(?:read\w*|exists\w*|l?stat\w*|access\w*|is_?file|getsize|metadata)\s*\(|\bopen\s*\((?![^)]*['"][wax]b?\+?['"])|\.(?:ReadFile|Stat|Open)\()(.*)/gi

const longNames = (names: readonly string[]): ReadonlySet<string> => new Set(names.filter((name) => name.length > 2))

/**
 * Changed lines of the work that look for a test runner, for a moment near now, or for a file that a check left, `file:line`.
 * Each check starts without those files, and other runs do not: code can count them.
 */
export async function findRunnerKnowledge(
  { readSources }: Pick<Claim, 'readSources'>,
  left: LeftFiles,
): Promise<string[]> {
  const outside = longNames(left.outside)
  const inProject = longNames(left.inProject)
  return (await readSources()).flatMap(({ path, before, after }) => {
    const language = codeLanguage(path)
    const known = new Set(before.split('\n').map((line) => line.trim()))
    if (language === undefined) return listLines(path, after, (line) => !known.has(line.trim()) && namesFuture(line))
    const code = maskCode(after, language, 'comments')
    const remembers = findReads(code.split('\n'), inProject)
    return listLines(
      path,
      code,
      (line) =>
        !known.has(line.trim()) &&
        (signs.some((sign) => sign.test(line)) ||
          namesAMoment(line) ||
          comparesDate(line) ||
          namesFile(line, outside) ||
          remembers(line)),
    )
  })
}
