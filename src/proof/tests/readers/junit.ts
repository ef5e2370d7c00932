import type { TestResult, TestStatus } from '../../../contract/tests.ts'
import { joinName, relativeFile, shortMessage } from '../form/names.ts'
import type { Report } from '../form/test-runner.ts'
import { findElements, parseXml, type XmlElement } from './xml.ts'

/** How a runner uses JUnit XML: each has its own idea of classes, suites and files. */
export type JunitDialect = {
  readonly file?: (testcase: XmlElement, around: readonly XmlElement[]) => string | undefined
  readonly status?: (testcase: XmlElement) => TestStatus | undefined
  readonly name?: (testcase: XmlElement, around: readonly XmlElement[]) => readonly string[]
}

/** Reads JUnit XML. The report is complete if its root element ends and holds as many tests as it announces. */
export function readJunit(text: string, project: string, dialect: JunitDialect = {}): Report {
  const root = parseXml(text)
  if (!root || !['testsuites', 'testsuite'].includes(root.tag)) return { complete: false, tests: [] }
  const { file = plainFile, name = plainName, status = () => undefined } = dialect
  const tests = findElements(root, 'testcase').map(({ element, around }): TestResult => {
    const path = relativeFile(file(element, around), project)
    const message = readMessage(element)
    return {
      ...(path && { file: path }),
      name: joinName(name(element, around)),
      status: status(element) ?? readStatus(element),
      ...(message && { message }),
    }
  })
  const announced = Number(root.attributes['tests'] ?? tests.length)
  return { complete: announced <= tests.length, tests }
}

const plainFile = ({ attributes }: XmlElement, around: readonly XmlElement[]): string | undefined =>
  attributes['file'] ??
  around.findLast((suite) => suite.attributes['file'])?.attributes['file'] ??
  attributes['classname']

const plainName = ({ attributes }: XmlElement): readonly string[] => [
  // Where a file is named too, the class tells apart what the file holds.
  ...(attributes['file'] && attributes['classname'] ? [attributes['classname']] : []),
  attributes['name'] ?? '',
]

function readStatus({ attributes, children }: XmlElement): TestStatus {
  const tags = children.map(({ tag }) => tag)
  if (tags.includes('failure') || tags.includes('error')) return 'failed'
  if (attributes['status'] === 'disabled') return 'disabled'
  const skipped = children.find(({ tag }) => tag === 'skipped')
  if (!skipped) return attributes['status'] === 'fail' || attributes['status'] === 'failed' ? 'failed' : 'passed'
  if (skipped.attributes['type'] === 'pytest.xfail') return 'expected-failure'
  return /^todo$/i.test(skipped.attributes['message'] ?? '') ? 'todo' : 'skipped'
}

function readMessage({ children }: XmlElement): string | undefined {
  const failure = children.find(({ tag }) => tag === 'failure' || tag === 'error')
  return failure && shortMessage(failure.attributes['message'] ?? failure.text)
}
