import { z } from 'zod'
import { TestStatus, type TestResult } from '../../../contract/tests.ts'
import { fileIn, joinName, shortMessage } from '../form/names.ts'
import { severity } from '../form/severity.ts'
import type { Report } from '../form/test-runner.ts'

const Line = z.union([
  z.object({ start: z.string(), cwd: z.string() }),
  z.object({
    test: z.array(z.string()),
    file: z.string().nullish(),
    status: TestStatus,
    message: z.string().nullish(),
    outside: z.literal(true).nullish(),
  }),
  z.object({ end: z.number() }),
])
type Line = z.infer<typeof Line>

/** Reads what the programs of assets/reporters write. The report is complete if it ends with the number of its tests. */
export function readReportLines(text: string, project: string): Report {
  const lines = text.split('\n').flatMap(readLine)
  const start = lines.find((line) => 'start' in line)
  const tests = lines.flatMap((line): TestResult[] => {
    if (!('test' in line)) return []
    const file = fileIn(start?.cwd, line.file, project)
    const message = shortMessage(line.message)
    return [
      {
        ...(file && { file }),
        name: joinName(line.test),
        status: line.status,
        ...(message && { message }),
        ...(line.outside && { outside: true }),
      },
    ]
  })
  const last = lines.at(-1)
  return { complete: last !== undefined && 'end' in last && last.end === tests.length, tests }
}

/** For runners that report one test several times: its parts, its setup and teardown. The worst counts. */
export function readRepeatedLines(text: string, project: string): Report {
  const { complete, tests } = readReportLines(text, project)
  const worst = new Map<string, TestResult>()
  for (const test of tests) {
    const key = JSON.stringify([test.file, test.name])
    const known = worst.get(key)
    if (!known || severity(test.status) > severity(known.status)) worst.set(key, test)
  }
  return { complete, tests: [...worst.values()] }
}

function readLine(text: string): Line[] {
  try {
    const line = Line.safeParse(JSON.parse(text))
    return line.success ? [line.data] : []
  } catch {
    return []
  }
}
