import type { TestResult } from '../../../contract/tests.ts'
import { readTap } from '../readers/tap.ts'
import type { Report, TestRunner } from '../form/test-runner.ts'
import { loadHook } from './node-options.ts'

export const ava: TestRunner = {
  name: 'ava',
  recorded: '7.0',
  pattern: /\bava\b/,
  reporter: { environment: (place) => [loadHook(place)] },
  readReport: readAva,
}

/** ava names the file, `file › test`, only where there is more than one: the name must not change with the second file. */
function readAva(text: string): Report {
  const { complete, tests } = readTap(text)
  return { complete, tests: tests.map((test): TestResult => ({ ...test, name: test.name.split(' › ').at(-1) ?? '' })) }
}
