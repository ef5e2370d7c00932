import { z } from 'zod'
import { fileObject } from './file-object.ts'

/** Only `passed` is a pass: a test that was skipped, or that is expected to fail, proves nothing. */
export const TestStatus = z.enum([
  'passed',
  'failed',
  'skipped',
  'todo',
  'expected-failure',
  'unexpected-pass',
  'disabled',
])
export type TestStatus = z.infer<typeof TestStatus>

export const TestResult = fileObject({
  /** Relative to the project, with `/`; a package or a class where the runner names no file; absent if it names neither. */
  file: z.string().optional(),
  /** Suites and test, joined by ` > `. */
  name: z.string(),
  status: TestStatus,
  message: z.string().optional(),
  /** No test, but an error outside of tests: a file that cannot be loaded, a hook. It has no name to come back with. */
  outside: z.literal(true).optional(),
})
export type TestResult = z.infer<typeof TestResult>

/** Where the names come from: a reporter that Ralph switched on, a file that the runner or the project writes, or the output. */
const TestSource = z.enum(['reporter', 'file', 'output'])

/** What one check said about its tests. */
export const TestRun = fileObject({
  /** Joined by ` + ` where the check ran several. */
  runner: z.string(),
  source: TestSource,
  /** The reader was recorded from the real program. */
  verified: z.boolean(),
  /** The record that the runner writes last was there, for each process of a runner. */
  complete: z.boolean(),
  tests: z.array(TestResult),
})
export type TestRun = z.infer<typeof TestRun>

const testIds = z.array(z.string())

/** The tests of a claim beside those of the baseline; each list holds ids, `file > name`, with ` #2` for a second one of that name. */
export const TestComparison = fileObject({
  /** Red before, passed now. */
  fixed: testIds,
  stillRed: testIds,
  /** New, and passed. */
  added: testIds,
  /** There before; now gone, skipped or expected to fail. */
  missing: testIds,
  /** Red now; passed, did not run or did not exist before. */
  newlyRed: testIds,
  /** Red now, and passed when run once more. */
  flaky: testIds,
  /** Number of tests that passed. */
  passedBefore: z.number(),
  passedNow: z.number(),
})
export type TestComparison = z.infer<typeof TestComparison>
