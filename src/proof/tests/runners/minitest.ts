import { readReportLines } from '../readers/report-lines.ts'
import type { TestRunner } from '../form/test-runner.ts'

/** A plugin on the load path: minitest 5 loads it by itself. */
export const minitest: TestRunner = {
  name: 'minitest',
  recorded: '5.17',
  pattern: /\bminitest\b|\brake( test)?\b|\brails test\b|\bruby\b[^&|;\n]*\btest\b/,
  reporter: {
    environment: ({ folder }) => [{ name: 'RUBYLIB', text: `${folder}/ruby`, separator: ':', side: 'start' }],
  },
  readReport: readReportLines,
}
