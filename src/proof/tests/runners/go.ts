import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { cleanText, escapePattern, joinName, relativeFile } from '../form/names.ts'
import type { Report, TestRunner } from '../form/test-runner.ts'

export const go: TestRunner = {
  name: 'go',
  recorded: '1.19',
  pattern: /\bgo test\b|\bgotestsum\b/,
  reporter: {
    // GOFLAGS knows no quotes. A cached result would leave no report. Not `-json`: `go vet` would then end with 0 on findings.
    environment: ({ folder }) =>
      /\s/.test(folder)
        ? []
        : [{ name: 'GOFLAGS', text: `-exec=${folder}/shell/go.sh -count=1`, separator: ' ', unless: /(^|\s)-exec=/ }],
  },
  readReport,
  readOutput,
  select: (tests) => ({
    // Subtests cannot be asked for without the test around them.
    'only-go.txt': `^(${[...new Set(tests.map(({ name }) => escapePattern(name.split(' > ')[0] ?? name)))].join('|')})$`,
  }),
}

/** One package: the folder, what the test binary printed with -test.v, and its exit code. Complete needs PASS or FAIL and a name. */
function readReport(report: string, project: string): Report {
  const text = cleanText(report)
  const folder = /^folder (.*)$/m.exec(text)?.[1]
  const file = folder === project ? '.' : relativeFile(folder, project)
  const tests = readTests(text).map((test): TestResult => ({ ...(file && { file }), ...test }))
  const hasEnd =
    /(PASS|FAIL)\n(?:coverage: .*\n)?\s*exit \d+\s*$/.test(text) || (/^panic: /m.test(text) && !/^exit 0$/m.test(text))
  return { complete: hasEnd && (tests.length > 0 || text.includes('no tests to run')), tests }
}

/** The output of `go test -v`, package after package; each ends with `ok  <package>` or `FAIL <package>`. */
function readOutput(output: string): Report | undefined {
  const text = cleanText(output)
  if (!/^=== RUN /m.test(text)) return undefined
  const tests: TestResult[] = []
  let rest = text
  let complete = true
  for (let end = packageEnd.exec(rest); end; end = packageEnd.exec(rest)) {
    const part = rest.slice(0, end.index)
    const file = end[2]
    tests.push(...readTests(part).map((test): TestResult => ({ ...(file && { file }), ...test })))
    complete &&= /^(PASS|FAIL)$/m.test(part) || !/^=== RUN /m.test(part) || part.includes('panic: ')
    rest = rest.slice(end.index + end[0].length)
  }
  return { complete: complete && !/^=== RUN /m.test(rest), tests }
}

const packageEnd = /^(ok|FAIL)\s+(\S+)\s+(?:[\d.]+s|\(cached\)).*$/m

function readTests(text: string): TestResult[] {
  // Not only at the start of a line: a test that prints without a line break puts its text before its result.
  const found = [...text.matchAll(/--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)/g)]
  const tests = found.map(([, word = '', name = '']): TestResult => ({
    name: joinName(name.split('/')),
    status: statuses[word] ?? 'failed',
  }))
  return [...tests, ...listUnfinishedTests(text, new Set(found.map(([, , name]) => name)))]
}

/** A panic ends the process: the test that ran has no result, and is red. */
function listUnfinishedTests(text: string, finished: ReadonlySet<string | undefined>): TestResult[] {
  const started = [...text.matchAll(/^=== RUN +(\S+)$/gm)].map(([, name = '']) => name)
  return started
    .filter((name) => !finished.has(name))
    .map((name) => ({ name: joinName(name.split('/')), status: 'failed' }))
}

const statuses: Readonly<Record<string, TestStatus>> = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' }
