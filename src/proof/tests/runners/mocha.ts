import { readReportLines } from '../readers/report-lines.ts'
import type { TestRunner } from '../form/test-runner.ts'
import { selectByPattern } from './name-pattern.ts'
import { loadHook } from './node-options.ts'

export const mocha: TestRunner = {
  name: 'mocha',
  recorded: '12.0',
  pattern: /\b_?mocha\b/,
  reporter: { environment: (place) => [loadHook(place)] },
  readReport: readReportLines,
  select: selectByPattern,
}
