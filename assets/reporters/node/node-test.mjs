// A reporter of node:test that prints nothing. Node loads it in the process that shows results, never in that of a test file.
import reportFile from './report-file.cjs'

reportFile.clearEnvironment()
const report = reportFile.openReport('node-test')

export default async function* writeReport(source) {
  // The names around the current test, by nesting: `test:start` comes in order, before what is inside.
  const names = []
  for await (const { type, data } of source) {
    if (type === 'test:start') names.splice(data.nesting, names.length, data.name)
    else if (type === 'test:pass' || type === 'test:fail') addResult(type, data, names)
  }
  report.close()
  yield ''
}

function addResult(type, data, names) {
  const error = data.details?.error
  const isSuite = data.details?.type === 'suite'
  // A suite is no test, but the error of its own hook is a result.
  if (isSuite && (type === 'test:pass' || error?.failureType === 'subtestsFailed')) return
  const test = [...names.slice(0, data.nesting), data.name]
  const message = type === 'test:fail' ? String(error?.cause?.message ?? error?.message ?? '') : undefined
  report.add({ test, file: data.file, status: readStatus(type, data), message, outside: isSuite || undefined })
}

/** An empty reason is `true` or an empty string, so both are compared with what is absent. */
function readStatus(type, { skip, todo }) {
  if (skip !== undefined && skip !== false) return 'skipped'
  if (todo !== undefined && todo !== false) return 'todo'
  return type === 'test:pass' ? 'passed' : 'failed'
}
