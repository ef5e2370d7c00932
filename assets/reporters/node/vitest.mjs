// A reporter of vitest that prints nothing. `onTestRunEnd` since vitest 3, `onFinished` before.
import reportFile from './report-file.cjs'

export default class ReportFile {
  report = reportFile.openReport('vitest')
  isClosed = false

  onTestRunEnd(modules, errors = []) {
    this.close(
      modules.map(({ task }) => task),
      errors,
    )
  }

  onFinished(files = [], errors = []) {
    this.close(files, errors)
  }

  close(files, errors) {
    if (this.isClosed) return
    this.isClosed = true
    for (const file of files) this.addTasks(file, file.filepath, [])
    for (const error of errors) this.report.add({ test: [message(error)], status: 'failed', outside: true })
    this.report.close()
  }

  /** An error of a suite or file is its own: those of the tests inside are not repeated in it. */
  addTasks({ tasks, result }, file, names) {
    const [error] = result?.errors ?? []
    if (error)
      this.report.add({
        test: [...names, 'outside of tests'],
        file,
        status: 'failed',
        message: message(error),
        outside: true,
      })
    for (const task of tasks) {
      if (task.type === 'suite') this.addTasks(task, file, [...names, task.name])
      else this.addTest(task, file, [...names, task.name])
    }
  }

  addTest(task, file, test) {
    const [error] = task.result?.errors ?? []
    this.report.add({ test, file, status: readStatus(task), message: error && message(error) })
  }
}

const message = (error) => String(error?.message ?? error)

function readStatus({ mode, result, fails }) {
  if (mode === 'todo') return 'todo'
  if (result?.state === 'pass') return fails ? 'expected-failure' : 'passed'
  return result?.state === 'fail' ? 'failed' : 'skipped'
}
