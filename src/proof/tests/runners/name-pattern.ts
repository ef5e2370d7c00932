import type { TestResult } from '../../../contract/tests.ts'
import { escapePattern } from '../form/names.ts'

/** The expression that vitest, jest and mocha compare with suites and test joined by a space. */
export const selectByPattern = (tests: readonly TestResult[]): Readonly<Record<string, string>> => ({
  'only-pattern.txt': `^(${tests.map(({ name }) => escapePattern(name.replaceAll(' > ', ' '))).join('|')})$`,
})
