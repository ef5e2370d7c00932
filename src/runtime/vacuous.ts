import { stripVTControlCharacters } from 'node:util'

/** The summary line of a test runner, and how many tests ran according to it. Skipped tests do not count. */
type Runner = { readonly line: RegExp; readonly ran: (match: readonly string[]) => number }

const nothing = () => 0
const first = ([, count = '0']: readonly string[]) => Number(count)
const firstWithoutSecond = ([, count = '0', skipped = '0']: readonly string[]) => Number(count) - Number(skipped)
const passedIn = ([line = '']: readonly string[]) => Number(/(\d+) x?passed/.exec(line)?.[1] ?? 0)

const runners: readonly Runner[] = [
  // node --test and others that print TAP
  { line: /^(?:#|ℹ) pass +(\d+)\s*$/gm, ran: first },
  // vitest; jest
  { line: /^ *Tests {2,}(?:no tests|.*\(\d+\)) *$/gm, ran: passedIn },
  { line: /^Tests: +.*\d+ total *$/gm, ran: passedIn },
  { line: /^[ \t]*No test(?: files| suites?|s) found/gim, ran: nothing },
  // mocha; bun; deno
  { line: /^ *(\d+) passing \(/gm, ran: first },
  { line: /^ *(\d+) pass$/gm, ran: first },
  { line: /^ok \| (\d+) passed/gm, ran: first },
  // pytest; unittest
  { line: /^=* ?no tests ran in /gm, ran: nothing },
  { line: /^=* ?\d.*\b(?:passed|skipped|deselected|xfailed)\b.* in [\d.]+s/gm, ran: passedOrXfailed },
  { line: /^Ran (\d+) tests? in [\d.]+s\s+(?:OK|NO TESTS RAN)(?: \(.*skipped=(\d+))?/gm, ran: firstWithoutSecond },
  // cargo prints one line per crate, go one per package
  { line: /^test result: ok\. (\d+) passed/gm, ran: first },
  { line: /^ok\s+\S+\s+(?:\(cached\)|[\d.]+s)(?!.*\[no tests to run\])/gm, ran: () => 1 },
  { line: /\[no test(?:s to run| files)\]/g, ran: nothing },
  { line: /^DONE (\d+) tests(?:, (\d+) skipped)? in /gm, ran: firstWithoutSecond },
  // PHPUnit; RSpec; minitest
  { line: /^OK \((\d+) tests?, /gm, ran: first },
  { line: /^Tests: (\d+), Assertions: \d+.*Skipped: (\d+)/gm, ran: firstWithoutSecond },
  { line: /^No tests executed!/gm, ran: nothing },
  { line: /^(\d+) examples?, 0 failures(?:, (\d+) pending)?/gm, ran: firstWithoutSecond },
  { line: /^(\d+) runs, \d+ assertions, 0 failures, 0 errors, (\d+) skips/gm, ran: firstWithoutSecond },
  // ctest; Maven; dotnet
  { line: /^100% tests passed, 0 tests failed out of (\d+)/gm, ran: first },
  { line: /^No tests were found!!!/gm, ran: nothing },
  { line: /^\[\w+\] Tests run: (\d+), Failures: 0, Errors: 0, Skipped: (\d+)/gm, ran: firstWithoutSecond },
  { line: /^Passed! +- Failed: +0, Passed: +(\d+)/gm, ran: first },
  { line: /^No test is available in /gm, ran: nothing },
]

/** A test that is expected to fail counts as run. */
function passedOrXfailed([line = '']: readonly string[]): number {
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
