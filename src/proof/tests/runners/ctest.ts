import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { cleanText, joinName } from '../form/names.ts'
import { readJunit, type JunitDialect } from '../readers/junit.ts'
import type { Report, TestRunner } from '../form/test-runner.ts'
import { putBeforePath } from './path-shim.ts'

/** The class is the name once more, and there is no file. */
const dialect: JunitDialect = {
  file: () => undefined,
  name: ({ attributes }) => [attributes['name'] ?? ''],
  // A program that is not there is shown as skipped, and counts as red.
  status: ({ children }) =>
    children.some(({ attributes }) => attributes['message']?.startsWith('Unable to find')) ? 'failed' : undefined,
}

/** `make test` of CMake calls ctest by its full path, past PATH: then the table that it prints is read. */
export const ctest: TestRunner = {
  name: 'ctest',
  recorded: '3.25',
  pattern: /\bctest\b|\bcmake --build\b[^&|;\n]*\btest\b/,
  reporter: { environment: (place) => [putBeforePath(place)] },
  readReport: (text, project) => readJunit(text, project, dialect),
  readOutput,
}

function readOutput(output: string): Report | undefined {
  const text = cleanText(output)
  if (!/^Test project \S+/m.test(text)) return undefined
  const found = text.matchAll(
    /^ *\d+\/\d+ Test +#\d+: (\S+) \.*(?: *\*{3})? *(Passed|Failed|Skipped|Not Run|Timeout|Exception)(.*)$/gm,
  )
  const tests = [...found].map(([, name = '', word = '', rest = '']): TestResult => ({
    name: joinName([name]),
    status: rest.includes('(Disabled)') ? 'disabled' : (statuses[word] ?? 'failed'),
  }))
  return { complete: /^\d+% tests passed, \d+ tests? failed out of \d+/m.test(text), tests }
}

const statuses: Readonly<Record<string, TestStatus>> = { Passed: 'passed', Skipped: 'skipped' }
