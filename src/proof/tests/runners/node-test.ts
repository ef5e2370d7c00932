import type { TestResult } from '../../../contract/tests.ts'
import { escapePattern, relativeFile } from '../form/names.ts'
import { readReportLines } from '../readers/report-lines.ts'
import { readTap } from '../readers/tap.ts'
import type { Report, TestRunner } from '../form/test-runner.ts'
import { loadHook } from './node-options.ts'

export const nodeTest: TestRunner = {
  name: 'node-test',
  recorded: '20.20',
  pattern: /\bnode\b[^&|;\n]* --test\b/,
  reporter: { environment: (place) => [loadHook(place)] },
  readReport: (text, project) => dropEmptyFiles(readReportLines(text, project), project),
  readOutput: (text, project) =>
    /^TAP version 13$/m.test(text) && /^# suites \d+$/m.test(text) ? dropEmptyFiles(readTap(text), project) : undefined,
  // Node 20 compares the pattern with the name of a test alone.
  select: (tests) => ({
    'only-names.json': JSON.stringify(tests.map((test) => escapePattern(lastName(test)))),
    'only-files.json': JSON.stringify(listFiles(tests)),
  }),
}

/** Empty where a test has no file: then all files run. */
const listFiles = (tests: readonly TestResult[]): string[] => {
  const files = tests.flatMap(({ file }) => file ?? [])
  return files.length === tests.length ? [...new Set(files)] : []
}

const lastName = ({ name }: TestResult): string => name.split(' > ').at(-1) ?? name

/**
 * A file that holds no test, or ends its process before the first one, is shown as a passed test with the name of the file.
 * It is none. A red one stays: the file could not be loaded.
 */
function dropEmptyFiles({ tests, complete }: Report, project: string): Report {
  return {
    complete,
    tests: tests.flatMap((test) => {
      if (!isFile(test)) return [test]
      return test.status === 'failed' ? [nameFile(test, project)] : []
    }),
  }
}

function nameFile(test: TestResult, project: string): TestResult {
  const file = relativeFile(test.file ?? test.name, project)
  return { ...test, ...(file && { file, name: file }), outside: true }
}

function isFile({ file, name }: TestResult): boolean {
  if (file !== undefined && (name === file || name.endsWith(`/${file}`) || file.endsWith(`/${name}`))) return true
  return file === undefined && /^[\w./@-]+\.[cm]?[jt]sx?$/.test(name)
}
