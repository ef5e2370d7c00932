'use strict'
// A reporter of mocha that shows what `spec` shows and writes a report beside it.
const { createRequire } = require('node:module')
const { realpathSync } = require('node:fs')
const { openReport } = require('./report-file.cjs')

const loaded = createRequire(realpathSync(process.argv[1]))('mocha')
const Mocha = loaded.default ?? loaded

module.exports = class ReportFile extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const report = openReport('mocha')
    const add = (status) => (test, error) => {
      const outside = test.type === 'hook' ? true : undefined
      report.add({ test: test.titlePath(), file: test.file, status, message: error?.message, outside })
    }
    runner.on('pass', add('passed'))
    runner.on('fail', add('failed'))
    // mocha forgets whether a test was skipped or has no body.
    runner.on('pending', add('skipped'))
    runner.on('end', () => report.close())
  }
}
