import type { TestStatus } from '../../../contract/tests.ts'
import { joinName, shortMessage } from '../form/names.ts'
import type { Report } from '../form/test-runner.ts'
import { findElements, parseXml, type XmlElement } from './xml.ts'

/** Reads the result files of Visual Studio and `dotnet test`. The report is complete if its summary is there. */
export function readTrx(text: string): Report {
  const root = parseXml(text)
  if (root?.tag !== 'TestRun') return { complete: false, tests: [] }
  const classes = new Map(
    findElements(root, 'UnitTest').map(({ element }) => [element.attributes['id'], className(element)]),
  )
  const tests = findElements(root, 'UnitTestResult').map(({ element }) => {
    const { testName = '', outcome = '', testId } = element.attributes
    const file = classes.get(testId)
    const message = shortMessage(findElements(element, 'Message')[0]?.element.text)
    return {
      ...(file && { file }),
      name: joinName([file && testName.startsWith(`${file}.`) ? testName.slice(file.length + 1) : testName]),
      status: statuses[outcome] ?? ('failed' satisfies TestStatus),
      ...(message && { message }),
    }
  })
  return { complete: findElements(root, 'ResultSummary').length > 0, tests }
}

const className = (test: XmlElement): string | undefined =>
  test.children.find(({ tag }) => tag === 'TestMethod')?.attributes['className']

const statuses: Readonly<Record<string, TestStatus>> = {
  Passed: 'passed',
  NotExecuted: 'skipped',
  Inconclusive: 'skipped',
  Pending: 'todo',
  NotRunnable: 'disabled',
}
