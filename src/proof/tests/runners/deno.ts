import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { cleanText, joinName } from '../form/names.ts'
import { readJunit, type JunitDialect } from '../readers/junit.ts'
import type { Report, TestRunner } from '../form/test-runner.ts'
import { putBeforePath } from './path-shim.ts'

const dialect: JunitDialect = {
  file: ({ attributes }) => attributes['classname'],
  name: ({ attributes }) => [attributes['name'] ?? ''],
}

export const deno: TestRunner = {
  name: 'deno',
  recorded: '2.9',
  pattern: /\bdeno (test|task)\b/,
  reporter: { environment: (place) => [putBeforePath(place)] },
  readReport: (text, project) => readJunit(text, project, dialect),
  readOutput,
}

/** Deno colours its output also where it goes into a pipe. */
function readOutput(output: string): Report | undefined {
  const text = cleanText(output)
  if (!/^running \d+ tests? from \S+$/m.test(text)) return undefined
  const tests: TestResult[] = []
  let file: string | undefined
  for (const line of text.split('\n')) {
    file = /^running \d+ tests? from (?:\.\/)?(\S+)$/.exec(line)?.[1] ?? file
    const [, name, word = ''] = /^(\S.*?) \.\.\. (ok|FAILED|ignored)\b/.exec(line) ?? []
    if (name !== undefined)
      tests.push({ ...(file && { file }), name: joinName([name]), status: statuses[word] ?? 'failed' })
  }
  return { complete: /^(ok|FAILED) \| \d+ passed/m.test(text), tests }
}

const statuses: Readonly<Record<string, TestStatus>> = { ok: 'passed', FAILED: 'failed', ignored: 'skipped' }
