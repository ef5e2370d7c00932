import { z } from 'zod'
import type { TestStatus } from '../../../contract/tests.ts'
import { joinName, relativeFile, shortMessage } from '../form/names.ts'
import type { Report } from '../form/test-runner.ts'

const Ctrf = z.object({
  results: z.object({
    summary: z.object({ tests: z.number() }),
    tests: z.array(
      z.object({
        name: z.string(),
        status: z.enum(['passed', 'failed', 'skipped', 'pending', 'other']),
        suite: z.union([z.string(), z.array(z.string())]).optional(),
        filePath: z.string().optional(),
        message: z.string().optional(),
      }),
    ),
  }),
})

/** Reads the Common Test Report Format. The report is complete if it holds as many tests as its summary counts. */
export function readCtrf(text: string, project: string): Report {
  const parsed = Ctrf.safeParse(parseJson(text))
  if (!parsed.success) return { complete: false, tests: [] }
  const { summary, tests } = parsed.data.results
  return {
    complete: summary.tests === tests.length,
    tests: tests.map(({ name, status, suite = [], filePath, message }) => {
      const file = relativeFile(filePath, project)
      const short = shortMessage(message)
      const suites = typeof suite === 'string' ? suite.split(' > ') : suite
      return {
        ...(file && { file }),
        name: joinName([...suites, name]),
        status: statuses[status],
        ...(short && { message: short }),
      }
    }),
  }
}

const statuses: Readonly<Record<'passed' | 'failed' | 'skipped' | 'pending' | 'other', TestStatus>> = {
  passed: 'passed',
  failed: 'failed',
  skipped: 'skipped',
  pending: 'todo',
  other: 'disabled',
}

/** Undefined where the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
