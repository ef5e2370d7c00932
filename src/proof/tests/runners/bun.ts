import { readJunit, type JunitDialect } from '../readers/junit.ts'
import type { XmlElement } from '../readers/xml.ts'
import type { TestRunner } from '../form/test-runner.ts'

/** Bun nests one suite per `describe` into the suite of the file. */
const dialect: JunitDialect = {
  file: ({ attributes }) => attributes['file'],
  name: ({ attributes }, around) => [...around.slice(2).map(suiteName), attributes['name'] ?? ''],
}

const suiteName = ({ attributes }: XmlElement): string => attributes['name'] ?? ''

/** BUN_OPTIONS takes one file name for all processes: the last `bun test` of a check wins. */
export const bun: TestRunner = {
  name: 'bun',
  recorded: '1.4',
  pattern: /\bbun( --\S+)* test\b/,
  reporter: {
    environment: ({ reports }) =>
      /\s/.test(reports)
        ? []
        : [{ name: 'BUN_OPTIONS', text: `--reporter=junit --reporter-outfile=${reports}/bun-0.xml`, separator: ' ' }],
  },
  readReport: (text, project) => readJunit(text, project, dialect),
}
