'use strict'
// What the reporters for Node share: the report of this process, and an environment without the reporters.
const fs = require('node:fs')
const path = require('node:path')

const reporters = path.dirname(__dirname)
const reportPath = (runner, kind) => path.join(reporters, '..', 'reports', `${runner}-${process.pid}.${kind}`)

function openReport(runner) {
  const file = reportPath(runner, 'jsonl')
  const append = (line) => fs.appendFileSync(file, JSON.stringify(line) + '\n')
  let count = 0
  append({ start: runner, cwd: process.cwd() })
  return {
    add(test) {
      count += 1
      append(test)
    },
    close: () => append({ end: count }),
  }
}

/** Programs that tests start report nothing: their tests are data of the project. */
function clearEnvironment() {
  const added = JSON.parse(fs.readFileSync(path.join(reporters, 'environment.json'), 'utf8'))
  for (const [name, text] of Object.entries(added)) {
    const value = process.env[name]
    if (value === undefined || !value.includes(text)) continue
    const rest = value.replace(text, '').trim()
    if (rest === '') delete process.env[name]
    else process.env[name] = rest
  }
}

const readSelection = () => readIfThere('only-pattern.txt')

const readNames = () => JSON.parse(readIfThere('only-names.json') ?? '[]')

/** The files of the wanted tests; undefined where one of them is not below this folder: then all files run. */
function readFiles() {
  const files = JSON.parse(readIfThere('only-files.json') ?? '[]')
  return files.length > 0 && files.every((file) => fs.existsSync(file)) ? files : undefined
}

function readIfThere(name) {
  const file = path.join(reporters, name)
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined
}

module.exports = { reportPath, openReport, clearEnvironment, readSelection, readNames, readFiles }
