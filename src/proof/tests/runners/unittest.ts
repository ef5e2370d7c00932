import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { cleanText, joinName } from '../form/names.ts'
import { readRepeatedLines } from '../readers/report-lines.ts'
import type { Report, TestRunner } from '../form/test-runner.ts'
import { addPythonPath } from './python-path.ts'

export const unittest: TestRunner = {
  name: 'unittest',
  recorded: '3.11',
  pattern: /\b-m unittest\b|\bmanage\.py test\b|\bunittest\b/,
  reporter: { environment: (place) => [addPythonPath(place)] },
  readReport: readRepeatedLines,
  readOutput,
}

/** The lines of `-v`: `test_add (test_calc.Calc.test_add) ... ok`. */
function readOutput(output: string): Report | undefined {
  const text = cleanText(output)
  const ran = /^Ran (\d+) tests? in [\d.]+s$/m.exec(text)?.[1]
  if (ran === undefined) return undefined
  const found = text.matchAll(
    /^(\w+) \(([\w.]+)\)(?:\n.*?)? \.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)/gm,
  )
  const tests = [...found].map(([, method = '', place = '', word = '']): TestResult => {
    const parts = place.split('.')
    if (parts.at(-1) === method) parts.pop()
    const name = joinName([parts.pop() ?? '', method])
    return { ...(parts.length > 0 && { file: `${parts.join('/')}.py` }), name, status: statuses[word] ?? 'failed' }
  })
  return { complete: /^(OK|FAILED|NO TESTS RAN)\b/m.test(text) && tests.length >= Number(ran), tests }
}

const statuses: Readonly<Record<string, TestStatus>> = {
  ok: 'passed',
  FAIL: 'failed',
  ERROR: 'failed',
  skipped: 'skipped',
  'expected failure': 'expected-failure',
  'unexpected success': 'unexpected-pass',
}
