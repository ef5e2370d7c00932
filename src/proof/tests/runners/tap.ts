import { readTap } from '../readers/tap.ts'
import type { TestRunner } from '../form/test-runner.ts'

/** Any other program that prints the Test Anything Protocol: prove, tape, bats. Tried last. */
export const tap: TestRunner = {
  name: 'tap',
  pattern: /\b(prove|tape|bats|tap)\b/,
  readOutput: (text) => (/^TAP version 1[34]$|^1\.\.\d+$/m.test(text) ? readTap(text) : undefined),
}
