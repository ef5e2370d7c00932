import { stripVTControlCharacters } from 'node:util'

/** The summary line of a test runner, and how many tests ran according to it. Skipped tests do not count. */
type TestRunner = { readonly line: RegExp; readonly ran: (match: readonly string[]) => number }

const countNone = () => 0
const countFirst = ([, count = '0']: readonly string[]) => Number(count)
const countWithoutSkipped = ([, count = '0', skipped = '0']: readonly string[]) => Number(count) - Number(skipped)
const countPassed = ([line = '']: readonly string[]) => Number(/(\d+) x?passed/.exec(line)?.[1] ?? 0)

const runners: readonly TestRunner[] = [
  // node --test and others that print TAP
  { line: /^(?:#|ℹ) pass +(\d+)\s*$/gm, ran: countFirst },
  // vitest; jest
  { line: /^ *Tests {2,}(?:no tests|.*\(\d+\)) *$/gm, ran: countPassed },
  { line: /^Tests: +.*\d+ total *$/gm, ran: countPassed },
  { line: /^[ \t]*No test(?: files| suites?|s) found/gim, ran: countNone },
  // mocha; bun; deno
  { line: /^ *(\d+) passing \(/gm, ran: countFirst },
  { line: /^ *(\d+) pass$/gm, ran: countFirst },
  { line: /^ok \| (\d+) passed/gm, ran: countFirst },
  // pytest; unittest
  { line: /^=* ?no tests ran in /gm, ran: countNone },
  { line: /^=* ?\d.*\b(?:passed|skipped|deselected|xfailed)\b.* in [\d.]+s/gm, ran: countPassedOrXfailed },
  { line: /^Ran (\d+) tests? in [\d.]+s\s+(?:OK|NO TESTS RAN)(?: \(.*skipped=(\d+))?/gm, ran: countWithoutSkipped },
  // cargo prints one line per crate, go one per package
  { line: /^test result: ok\. (\d+) passed/gm, ran: countFirst },
  { line: /^ok\s+\S+\s+(?:\(cached\)|[\d.]+s)(?!.*\[no tests to run\])/gm, ran: () => 1 },
  { line: /\[no test(?:s to run| files)\]/g, ran: countNone },
  { line: /^DONE (\d+) tests(?:, (\d+) skipped)? in /gm, ran: countWithoutSkipped },
  // PHPUnit; RSpec; minitest
  { line: /^OK \((\d+) tests?, /gm, ran: countFirst },
  { line: /^Tests: (\d+), Assertions: \d+.*Skipped: (\d+)/gm, ran: countWithoutSkipped },
  { line: /^No tests executed!/gm, ran: countNone },
  { line: /^(\d+) examples?, 0 failures(?:, (\d+) pending)?/gm, ran: countWithoutSkipped },
  { line: /^(\d+) runs, \d+ assertions, 0 failures, 0 errors, (\d+) skips/gm, ran: countWithoutSkipped },
  // ctest; Maven; dotnet
  { line: /^100% tests passed, 0 tests failed out of (\d+)/gm, ran: countFirst },
  { line: /^No tests were found!!!/gm, ran: countNone },
  { line: /^\[\w+\] Tests run: (\d+), Failures: 0, Errors: 0, Skipped: (\d+)/gm, ran: countWithoutSkipped },
  { line: /^Passed! +- Failed: +0, Passed: +(\d+)/gm, ran: countFirst },
  { line: /^No test is available in /gm, ran: countNone },
]

/** A test that is expected to fail counts as run. */
function countPassedOrXfailed([line = '']: readonly string[]): number {
  return [...line.matchAll(/(\d+) (?:passed|xfailed|xpassed)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
}

/**
 * Whether the output of a successful check shows that no test ran: otherwise an agent could pass by deleting, skipping or
 * filtering out the tests. One runner that ran tests is enough; unknown programs are trusted.
 */
export function ranNoTests(output: string): boolean {
  const text = stripVTControlCharacters(output)
  const counts = runners.flatMap(({ line, ran }) => [...text.matchAll(line)].map((match) => ran(match)))
  return counts.length > 0 && counts.every((count) => count === 0)
}
