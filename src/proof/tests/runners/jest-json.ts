import { z } from 'zod'
import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { joinName, relativeFile, shortMessage } from '../form/names.ts'
import { parseJson } from '../readers/ctrf.ts'
import type { Report } from '../form/test-runner.ts'

const JestJson = z.object({
  numTotalTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().nullish(),
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          failing: z.boolean().optional(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
})
type JestFile = z.infer<typeof JestJson>['testResults'][number]

/** Reads the JSON of jest, which jest writes once, at the end. */
export function readJestJson(text: string, project: string): Report {
  const parsed = JestJson.safeParse(parseJson(text))
  if (!parsed.success) return { complete: false, tests: [] }
  return { complete: true, tests: parsed.data.testResults.flatMap((file) => readFile(file, project)) }
}

function readFile({ name, status, message, assertionResults }: JestFile, project: string): TestResult[] {
  const file = relativeFile(name, project)
  const tests = assertionResults.map((test): TestResult => {
    const failure = shortMessage(test.failureMessages?.[0])
    return {
      ...(file && { file }),
      name: joinName([...test.ancestorTitles, test.title]),
      // `test.failing`: jest reports the failure that it wants as a pass.
      status: test.failing && test.status === 'passed' ? 'expected-failure' : (statuses[test.status] ?? 'failed'),
      ...(failure && { message: failure }),
    }
  })
  if (status !== 'failed' || tests.some((test) => test.status === 'failed')) return tests
  // The file could not be loaded.
  const failure = shortMessage(message)
  return [
    ...tests,
    {
      ...(file && { file }),
      name: file ?? name,
      status: 'failed',
      outside: true,
      ...(failure && { message: failure }),
    },
  ]
}

const statuses: Readonly<Record<string, TestStatus>> = {
  passed: 'passed',
  failed: 'failed',
  pending: 'skipped',
  skipped: 'skipped',
  disabled: 'disabled',
  todo: 'todo',
}
