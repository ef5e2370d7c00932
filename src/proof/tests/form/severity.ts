import type { TestStatus } from '../../../contract/tests.ts'

/** From a pass to a failure. */
const order: readonly TestStatus[] = [
  'passed',
  'unexpected-pass',
  'expected-failure',
  'todo',
  'skipped',
  'disabled',
  'failed',
]

export const severity = (status: TestStatus): number => order.indexOf(status)
