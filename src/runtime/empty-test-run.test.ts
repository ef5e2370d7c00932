import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../../test/support/paths.ts'
import { ranNoTests } from './empty-test-run.ts'

describe('outputs of runners that ran nothing', () => {
  it.each([
    ['node, TAP', '1..0\n# tests 0\n# suites 0\n# pass 0\n# fail 0\n'],
    ['node, spec', 'ℹ tests 0\nℹ suites 0\nℹ pass 0\n'],
    ['node, all skipped', '# tests 2\n# suites 0\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 2\n'],
    ['vitest', '\n No test files found, exiting with code 0\n'],
    ['vitest, empty files', ' Test Files  1 passed (1)\n      Tests  no tests\n   Start at  21:31:34\n'],
    ['vitest, all skipped', ' Test Files  1 skipped (1)\n      Tests  1 skipped | 1 todo (2)\n'],
    ['vitest, in colour', '\u001b[2m      Tests \u001b[22m \u001b[33m1 skipped\u001b[39m\u001b[90m (1)\u001b[39m\n'],
    ['jest', 'No tests found, exiting with code 0\n'],
    ['jest, empty', 'Test Suites: 0 of 1 total\nTests:       0 total\nSnapshots:   0 total\n'],
    ['jest, all skipped', 'Test Suites: 1 skipped, 0 of 1 total\nTests:       3 skipped, 3 total\n'],
    ['mocha', '\n\n  0 passing (1ms)\n'],
    ['mocha, all pending', '\n  0 passing (2ms)\n  3 pending\n'],
    ['pytest', 'collected 0 items\n\n============ no tests ran in 0.01s ============\n'],
    ['pytest, all skipped', 'test_a.py ss   [100%]\n\n============== 2 skipped in 0.90s ==============\n'],
    ['pytest -q, all skipped', 'ss   [100%]\n2 skipped in 1.26s\n'],
    ['pytest, deselected', '============== 3 deselected in 1.90s ===============\n'],
    ['unittest', '\n----------\nRan 0 tests in 0.000s\n\nOK\n'],
    ['unittest, all skipped', 's\n----------\nRan 1 test in 0.000s\n\nOK (skipped=1)\n'],
    ['cargo, filtered out', 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 5783 filtered out\n'],
    ['go', '?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.003s [no tests to run]\n'],
    ['gotestsum', 'DONE 0 tests in 0.012s\n'],
    ['PHPUnit', 'No tests executed!\n'],
    ['RSpec, all pending', '2 examples, 0 failures, 2 pending\n'],
    ['minitest', '0 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n'],
    ['ctest', 'No tests were found!!!\n'],
    ['Maven', '[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n'],
  ])('%s', (_, output) => {
    expect(ranNoTests(output)).toBe(true)
  })
})

describe('outputs that are trusted', () => {
  it.each([
    ['node', '# tests 3\n# suites 0\n# pass 3\n# fail 0\n'],
    ['node, one of two packages without tests', '# tests 0\n# pass 0\n# fail 0\n\n> b\n# tests 5\n# pass 5\n'],
    ['vitest', ' Test Files  1 passed | 1 skipped (2)\n      Tests  1 passed | 2 skipped (3)\n'],
    ['jest', 'Test Suites: 1 passed, 1 total\nTests:       1 skipped, 2 passed, 3 total\n'],
    [
      'jest, one of two packages without tests',
      'No tests found, exiting with code 0\nTests:       3 passed, 3 total\n',
    ],
    ['mocha', '  12 passing (1s)\n'],
    ['pytest', '========= 1 passed, 2 skipped in 1.06s =========\n'],
    ['pytest, expected to fail', '2 xfailed in 0.05s\n'],
    ['unittest', 'Ran 2 tests in 0.000s\n\nOK (skipped=1)\n'],
    [
      'cargo, with empty doc-tests',
      'test result: ok. 7 passed; 0 failed\n\n   Doc-tests r\n\ntest result: ok. 0 passed\n',
    ],
    ['go', '?   \texample.com/a\t[no test files]\nok  \texample.com/b\t(cached)\n'],
    ['RSpec', '3 examples, 0 failures, 1 pending\n'],
    ['Maven', '[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 1\n'],
    ['a linter', 'checked 0 files\n0 problems\n'],
    ['a bundler', '34 modules in 0.50s\n3 warnings in 0.2s\n'],
    ['a log that talks about tests', 'there were no tests ran in this suite, 0 passed\n'],
    ['silence', ''],
  ])('%s', (_, output) => {
    expect(ranNoTests(output)).toBe(false)
  })
})

describe('the runners themselves', () => {
  const nodeTest = (...args: readonly string[]) => [process.execPath, '--test', ...args] as const
  const vitest = [process.execPath, join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--passWithNoTests'] as const
  const nodeFile = (name: string) => `import test from 'node:test'\ntest${name}('x', () => {})\n`
  const vitestFile = (name: string) => `import { it } from 'vitest'\nit${name}('x', () => {})\n`

  it.each([
    ['node, nothing there', nodeTest(), {}, true],
    ['node, one test', nodeTest(), { 'a.test.mjs': nodeFile('') }, false],
    ['node, one skipped test', nodeTest(), { 'a.test.mjs': nodeFile('.skip') }, true],
    ['node, spec', nodeTest('--test-reporter=spec'), { 'a.test.mjs': nodeFile('') }, false],
    ['node, spec, skipped', nodeTest('--test-reporter=spec'), { 'a.test.mjs': nodeFile('.skip') }, true],
    ['node, no match', nodeTest('--test-name-pattern=nomatch'), { 'a.test.mjs': nodeFile('') }, true],
    ['vitest, nothing there', vitest, {}, true],
    ['vitest, one test', vitest, { 'a.test.mjs': vitestFile('') }, false],
    ['vitest, one skipped test', vitest, { 'a.test.mjs': vitestFile('.skip') }, true],
  ])('%s', (_, command, files, expected) => {
    const { status, output } = run(command, files)

    expect({ status, nothing: ranNoTests(output) }).toEqual({ status: 0, nothing: expected })
  })
})

function run([file, ...args]: readonly [string, ...string[]], files: Readonly<Record<string, string>>) {
  const cwd = mkdtempSync(join(tmpdir(), 'ralph-runner-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd }
  const { status, stdout, stderr } = spawnSync(file, args, { cwd, env, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}
