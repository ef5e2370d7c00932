import { readReportLines } from '../readers/report-lines.ts'
import type { TestRunner } from '../form/test-runner.ts'
import { selectByPattern } from './name-pattern.ts'
import { loadHook } from './node-options.ts'

export const vitest: TestRunner = {
  name: 'vitest',
  recorded: '4.1',
  pattern: /\bvitest\b/,
  reporter: { environment: (place) => [loadHook(place)] },
  readReport: readReportLines,
  select: selectByPattern,
}
