import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { cleanText, joinName } from '../form/names.ts'
import { readRepeatedLines } from '../readers/report-lines.ts'
import type { Report, TestRunner } from '../form/test-runner.ts'
import { addPythonPath } from './python-path.ts'

export const pytest: TestRunner = {
  name: 'pytest',
  recorded: '9.0',
  pattern: /\b(pytest|py\.test)\b/,
  reporter: { environment: (place) => [addPythonPath(place)] },
  readReport: readRepeatedLines,
  readOutput,
  select: (tests) => ({ 'only.json': JSON.stringify(tests.map(({ file, name }) => ({ file, name }))) }),
}

/** The lines of `-v` and of the summary that `-rA` asks for. */
function readOutput(output: string): Report | undefined {
  const text = cleanText(output)
  if (!/^=+ test session starts =+$/m.test(text)) return undefined
  const verbose = [...text.matchAll(/^(\S+?)::(.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b/gm)]
  const summary = [...text.matchAll(/^(PASSED|FAILED|ERROR|XFAIL|XPASS) (\S+?)::(.+?)(?: - .*)?$/gm)]
  const tests =
    verbose.length > 0
      ? verbose.map(([, file = '', name = '', word = '']) => readTest(file, name, word))
      : summary.map(([, word = '', file = '', name = '']) => readTest(file, name, word))
  return { complete: /^=+ .*\bin [\d.]+s.* =+$/m.test(text), tests }
}

const readTest = (file: string, name: string, word: string): TestResult => ({
  file,
  name: joinName(name.split('::')),
  status: statuses[word] ?? 'failed',
})

const statuses: Readonly<Record<string, TestStatus>> = {
  PASSED: 'passed',
  FAILED: 'failed',
  ERROR: 'failed',
  SKIPPED: 'skipped',
  XFAIL: 'expected-failure',
  XPASS: 'unexpected-pass',
}
