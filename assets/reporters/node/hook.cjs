'use strict'
// Every Node process of a check loads this first (NODE_OPTIONS=--require). It acts only where the process is a test runner.
const { isMainThread } = require('node:worker_threads')

const runners = [
  { name: 'vitest', kind: 'jsonl', pattern: /\/vitest\/(vitest|dist\/cli)\.m?js$|\/\.bin\/vitest$/, adapt: vitest },
  { name: 'jest', kind: 'json', pattern: /\/jest(-cli)?\/bin\/jest\.js$|\/\.bin\/jest$/, adapt: jest },
  {
    name: 'mocha',
    kind: 'jsonl',
    pattern: /\/mocha\/(bin\/_?mocha(\.c?js)?|lib\/cli\/cli\.[cm]?js)$|\/\.bin\/_?mocha$/,
    adapt: mocha,
  },
  { name: 'ava', kind: 'tap', pattern: /\/ava\/entrypoints\/cli\.mjs$|\/\.bin\/ava$/, adapt: ava },
]

// Deno reads NODE_OPTIONS too, and would ask for permission to see the environment.
if (isMainThread && process.versions.deno === undefined && process.env.NODE_TEST_CONTEXT === undefined) activate()

function activate() {
  const entry = (process.argv[1] || '').replace(/\\/g, '/')
  const runner = runners.find(({ pattern }) => pattern.test(entry))
  if (runner) start(runner)
  else if (usesNodeTest()) startNodeTest()
}

function start({ name, kind, adapt }) {
  const { reportPath, clearEnvironment, readSelection } = require('./report-file.cjs')
  const file = reportPath(name, kind)
  // A file that is still empty at the end comes from a runner that was stopped.
  require('node:fs').appendFileSync(file, '')
  adapt(process.argv, file, readSelection())
  clearEnvironment()
}

function vitest(args, _file, only) {
  if (!has(args, '--reporter')) insert(args, '--reporter=default')
  insert(args, `--reporter=${require.resolve('./vitest.mjs')}`)
  if (only !== undefined && !has(args, '-t', '--testNamePattern')) insert(args, `--testNamePattern=${only}`)
}

function jest(args, file, only) {
  if (has(args, '--outputFile')) return
  insert(args, '--json', `--outputFile=${file}`, '--testLocationInResults')
  if (only !== undefined && !has(args, '-t', '--testNamePattern')) insert(args, `--testNamePattern=${only}`)
}

function mocha(args, _file, only) {
  insert(args, `--reporter=${require.resolve('./mocha.cjs')}`)
  if (only !== undefined && !has(args, '-g', '--grep', '-f', '--fgrep')) insert(args, `--grep=${only}`)
}

/** ava prints TAP and writes no file, so the output is copied. */
function ava(args, file) {
  const { appendFileSync } = require('node:fs')
  insert(args, '--tap')
  const write = process.stdout.write
  process.stdout.write = function (chunk, ...rest) {
    appendFileSync(file, chunk)
    return write.call(this, chunk, ...rest)
  }
}

/**
 * Starts Node once more, with a reporter. Not through NODE_OPTIONS: older versions refuse it there, and all of them refuse
 * reporters and destinations that differ in number, as they do where the project names its own reporter.
 */
function startNodeTest() {
  const { clearEnvironment, readFiles, readNames } = require('./report-file.cjs')
  clearEnvironment()
  if (process.env.NODE_OPTIONS?.includes(__dirname)) return
  const { join } = require('node:path')
  const args = [
    `--test-reporter=${join(__dirname, 'node-test.mjs')}`,
    '--test-reporter-destination=stderr',
    ...(has(process.execArgv, '--test-reporter-destination') ? [] : ['--test-reporter-destination=stdout']),
    ...(has(process.execArgv, '--test-reporter') ? [] : ['--test-reporter=spec']),
    ...readNames().map((name) => `--test-name-pattern=${name}`),
    ...process.execArgv,
    ...((process.execArgv.includes('--test') && readFiles()) || process.argv.slice(1)),
  ]
  const { status, signal } = require('node:child_process').spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (signal) process.kill(process.pid, signal)
  process.exit(status ?? 1)
}

/** `node --test`, or a file that uses node:test by itself. */
function usesNodeTest() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 18 || (major === 18 && minor < 15) || (major === 19 && minor < 6)) return false
  if (process.execArgv.includes('--test')) return true
  const { existsSync, readFileSync } = require('node:fs')
  const file = process.argv[1] ?? ''
  return /\.[cm]?[jt]sx?$/.test(file) && existsSync(file) && /['"`]node:test['"`]/.test(readFileSync(file, 'utf8'))
}

function has(args, ...names) {
  return args.some((arg) => names.some((name) => arg === name || arg.startsWith(`${name}=`)))
}

/** What follows `--` is no option of the runner. */
function insert(args, ...options) {
  const end = args.indexOf('--')
  args.splice(end === -1 ? args.length : end, 0, ...options)
}
