import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { removeProjects, runProject, testLines } from '../../../test/support/test-projects/run-project.ts'
import type { TestRun } from '../../contract/tests.ts'
import { compareRuns } from './compare-runs.ts'
import { findLoss, findRunProblem } from './judge-run.ts'

const nodeModules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const isThere = (program: string) => spawnSync(program, ['--version']).status === 0

afterAll(removeProjects)

const nodeTest = (body: string) =>
  `import { test } from 'node:test'\nimport assert from 'node:assert/strict'\n${body}\n`
const twoTests = nodeTest(`test('adds', () => assert.equal(1 + 1, 2))\ntest('red', () => assert.equal(1, 2))`)
const script = (test: string) => JSON.stringify({ type: 'module', scripts: { test } })

describe('a command that calls several runners', () => {
  it('is read whole: npm test, node:test, then vitest', async () => {
    const files = {
      'package.json': script('node --test test/; vitest run --dir unit'),
      'test/a.test.js': twoTests,
      'unit/b.test.js': `import { test } from 'vitest'\ntest('subtracts', () => {})\n`,
    }
    const { run } = await runProject(files, 'npm test --silent', { nodeModules })
    expect({ ...run, tests: testLines(run) }).toEqual({
      runner: 'node-test + vitest',
      source: 'reporter',
      verified: true,
      complete: true,
      tests: ['failed  test/a.test.js > red', 'passed  test/a.test.js > adds', 'passed  unit/b.test.js > subtracts'],
    })
  })

  it('is read whole: the workspaces of npm, each with its own folder', async () => {
    const files = {
      'package.json': JSON.stringify({ workspaces: ['packages/*'] }),
      'packages/a/package.json': '{"name":"a","scripts":{"test":"node --test"},"type":"module"}',
      'packages/a/test/same.test.js': nodeTest(`test('adds', () => {})`),
      'packages/b/package.json': '{"name":"b","scripts":{"test":"node --test"},"type":"module"}',
      'packages/b/test/same.test.js': nodeTest(`test('adds', () => {})`),
    }
    const { run } = await runProject(files, 'npm test --workspaces --silent')
    expect(testLines(run)).toEqual([
      'passed  packages/a/test/same.test.js > adds',
      'passed  packages/b/test/same.test.js > adds',
    ])
  })

  it('is read whole: make, which calls Python', async () => {
    const files = {
      Makefile: 'test:\n\t@cd src && python3 -m unittest -q\n',
      'src/test_calc.py': 'import unittest\nclass Calc(unittest.TestCase):\n  def test_adds(self): pass\n',
    }
    const { run } = await runProject(files, 'make test')
    const isPossible = isThere('make') && isThere('python3')
    expect(testLines(run)).toEqual(isPossible ? ['passed  src/test_calc.py > Calc > test_adds'] : [])
  })

  it('is read whole: go vet and go test, twice, past the cache', async () => {
    const files = {
      'go.mod': 'module example.com/calc\n\ngo 1.19\n',
      'a_test.go': 'package calc\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {}\n',
    }
    const { run } = await runProject(files, 'go vet ./... && go test ./... && go test ./...')
    const isPossible = spawnSync('go', ['env']).status === 0
    expect(testLines(run)).toEqual(isPossible ? ['passed  . > TestAdds', 'passed  . > TestAdds'] : [])
  })
})

describe('the environment of the project', () => {
  it('is kept, and the tests see nothing but it', async () => {
    const files = {
      'setup.cjs': 'globalThis.fromSetup = true\n',
      'test/a.test.mjs': nodeTest(`test('sees', () => assert.equal(globalThis.fromSetup, true))
test('has only', () => {
  const added = Object.keys(process.env).filter((name) => /RALPH|PYTEST|GOFLAGS|CARGO_TARGET|SPEC_OPTS|BUN_OPT|RUBYLIB|PHP_INI/.test(name))
  assert.deepEqual([process.env.NODE_OPTIONS, process.env.PYTHONPATH, ...added], ['--require ./setup.cjs', '/own'])
  assert.ok(!process.env.PATH.includes('reporters'))
})`),
    }
    const env = { NODE_OPTIONS: '--require ./setup.cjs', PYTHONPATH: '/own' }
    const { run } = await runProject(files, 'node --test test/', { env })
    expect(testLines(run)).toEqual(['passed  test/a.test.mjs > has only', 'passed  test/a.test.mjs > sees'])
  })

  it.each([
    ['without a destination', '--test-reporter=dot'],
    ['with a destination', '--test-reporter=dot --test-reporter-destination=dots.txt'],
  ])('may name its own reporter, %s', async (_, options) => {
    const files = { 'a.test.mjs': twoTests, 'dots.txt': '' }
    const { run, stdout } = await runProject(files, `node ${options} --test; echo "exit $?"; cat dots.txt`)
    expect({ tests: testLines(run), hasDots: /^\.X/m.test(stdout), hasExit: /^exit 1/m.test(stdout) }).toEqual({
      tests: ['failed  a.test.mjs > red', 'passed  a.test.mjs > adds'],
      hasDots: true,
      hasExit: true,
    })
  })

  it('may run a file of node:test by itself', async () => {
    const { run, exitCode } = await runProject({ 'a.test.mjs': twoTests }, 'node a.test.mjs')
    expect({ source: run?.source, exitCode, tests: testLines(run) }).toEqual({
      source: 'reporter',
      exitCode: 1,
      tests: ['failed  a.test.mjs > red', 'passed  a.test.mjs > adds'],
    })
  })

  it('does not make a test of what a test runs inside', async () => {
    const inner = `import { test } from 'node:test'\ntest('inner red', () => { throw new Error('wanted') })\n`
    const files = {
      'fixtures/inner.mjs': inner,
      'test/a.test.mjs': nodeTest(`import { spawnSync } from 'node:child_process'
test('outer', () => {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
  assert.equal(spawnSync(process.execPath, ['--test', 'fixtures/inner.mjs'], { env }).status, 1)
})`),
    }
    const { run, exitCode } = await runProject(files, 'node --test test/')
    expect({ exitCode, tests: testLines(run) }).toEqual({ exitCode: 0, tests: ['passed  test/a.test.mjs > outer'] })
  })

  it('needs no reporter: plain output is read, and says so', async () => {
    const { run } = await runProject({ 'a.test.mjs': twoTests }, 'node --test', { reporters: 'off' })
    expect({ ...run, tests: testLines(run) }).toEqual({
      runner: 'node-test',
      source: 'output',
      verified: true,
      complete: true,
      tests: ['failed  red', 'passed  adds'],
    })
  })

  it('of a command without tests leaves no names', async () => {
    expect((await runProject({ 'a.txt': 'x' }, 'cat a.txt')).run).toBeUndefined()
  })
})

describe('a report that the project writes', () => {
  const junit = '<testsuites tests="1"><testsuite><testcase name="adds" classname="Calc"/></testsuite></testsuites>'

  it('is read where `report` says', async () => {
    const { run } = await runProject({ 'x.txt': '' }, `echo '${junit}' > out.xml`, { reportPath: 'out.xml' })
    expect({ ...run, tests: testLines(run) }).toEqual({
      runner: 'junit',
      source: 'file',
      verified: true,
      complete: true,
      tests: ['passed  Calc > adds'],
    })
  })

  it('is no report of this run if it is older, or missing', async () => {
    const old = await runProject({ 'out.xml': junit }, 'touch -d 2020-01-01 out.xml', { reportPath: 'out.xml' })
    const none = await runProject({ 'x.txt': '' }, 'true', { reportPath: 'out.xml' })
    expect([old.run?.complete, none.run?.complete]).toEqual([false, false])
  })

  it('is found for maven, and called unverified', async () => {
    const folder = 'target/surefire-reports'
    const maven = `mvn() { mkdir -p ${folder}; echo '${junit}' > ${folder}/TEST-Calc.xml; }; mvn test`
    const { run } = await runProject({ 'pom.xml': '' }, maven)
    expect({ runner: run?.runner, source: run?.source, verified: run?.verified, tests: testLines(run) }).toEqual({
      runner: 'maven',
      source: 'file',
      verified: false,
      tests: ['passed  Calc > adds'],
    })
  })
})

describe('red tests', () => {
  const vitestFile = `import { describe, expect, test } from 'vitest'
describe('math (a+b)', () => { test('red', () => expect(1).toBe(2)); test('adds', () => {}) })
`

  it.each([
    ['node:test', 'node --test', 'a.test.mjs', twoTests],
    ['vitest', 'npx --no-install vitest run', 'a.test.mjs', vitestFile],
  ])('are run once more by name: %s', async (_, command, name, text) => {
    const first = await runProject({ [name]: text }, command, { nodeModules })
    const only = first.run?.tests.filter(({ status }) => status === 'failed') ?? []
    const again = await runProject({ [name]: text }, command, { nodeModules, only })
    const statuses = again.run?.tests.map((test) => `${test.status} ${test.name.split(' > ').at(-1)}`).toSorted()
    expect(statuses).toEqual(['failed red', 'skipped adds'])
  })

  it('are all run again where one of them has no name', async () => {
    const only = [{ file: 'a.test.mjs', name: 'a.test.mjs', status: 'failed', outside: true }] as const
    const { run } = await runProject({ 'a.test.mjs': twoTests }, 'node --test', { only })
    expect(testLines(run)).toEqual(['failed  a.test.mjs > red', 'passed  a.test.mjs > adds'])
  })
})

describe('a cheat', () => {
  const honest = nodeTest(`test('adds', () => assert.equal(1 + 1, 2))\ntest('works', () => assert.equal(1, 2))`)
  const judge = async (file: string, command = 'node --test') => {
    const baseline = await baselineRun
    const { run, exitCode } = await runProject({ 'a.test.mjs': file }, command)
    const problem = run && findRunProblem(run, exitCode)
    return problem ?? findLoss(compareRuns(baseline, run))
  }
  const baselineRun = runProject({ 'a.test.mjs': honest }, 'node --test').then(({ run }) => run ?? emptyRun)

  it.each([
    ['ends the process at import', `process.exit(0)\n${honest}`, 'no test ran'],
    [
      'ends the process between tests',
      nodeTest(`test('adds', () => {})\ntest('x', () => process.exit(0))`),
      'no test ran',
    ],
    ['skips the red test', honest.replace(`test('works'`, `test.skip('works'`), '1 test of the baseline missing'],
    ['calls it todo', honest.replace(`test('works'`, `test.todo('works'`), '1 test of the baseline missing'],
    ['deletes it', nodeTest(`test('adds', () => {})`), '1 test of the baseline missing'],
    [
      'renames it',
      honest.replace(`test('works', () => assert.equal(1, 2))`, `test('fine', () => {})`),
      '1 test of the baseline missing',
    ],
    ['puts a green one of the same name before it', `${honest}\ntest('works', () => {})`, '1 red test'],
    [
      'prints the result that it would like',
      nodeTest(`console.log('ok 1 - adds\\nok 2 - works\\n1..2\\n# tests 2\\n# suites 0')\ntest('adds', () => {})`),
      '1 test of the baseline missing',
    ],
  ])('is seen that %s', async (_, file, problem) => {
    expect(await judge(file)).toBe(problem)
  })

  it('is seen that hides the exit code', async () => {
    expect(await judge(honest, 'node --test || true')).toBe('the command ended with 0, but its report names 1 red test')
  })

  it('is seen that runs nothing at all', async () => {
    expect(await judge(honest, 'true')).toBe('2 tests of the baseline missing')
  })

  it('is seen that prints a whole report in place of the runner', async () => {
    const tap = 'TAP version 13\\nok 1 - adds\\nok 2 - works\\n1..2\\n# tests 2\\n# suites 0\\n'
    expect(await judge('', `printf '${tap}'`)).toBe('2 tests of the baseline missing')
  })

  it('is seen in vitest that expects its tests to fail', async () => {
    const file = (call: string) => `import { expect, test } from 'vitest'\n${call}('works', () => expect(1).toBe(2))\n`
    const vitest = 'npx --no-install vitest run'
    const before = await runProject({ 'a.test.mjs': file('test') }, vitest, { nodeModules })
    const now = await runProject({ 'a.test.mjs': file('test.fails') }, vitest, { nodeModules })
    expect({ exitCode: now.exitCode, missing: compareRuns(before.run ?? emptyRun, now.run).missing }).toEqual({
      exitCode: 0,
      missing: ['a.test.mjs > works'],
    })
  })
})

const emptyRun: TestRun = { runner: '', source: 'reporter', verified: false, complete: false, tests: [] }
