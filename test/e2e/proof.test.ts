import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'done' }
const packageJson = JSON.stringify({ scripts: { test: 'node --test' } })
const testFile = (...tests: readonly string[]): string =>
  [
    `const test = require('node:test'); const assert = require('node:assert'); const lib = require('../lib.js')`,
    ...tests,
  ].join('\n')

it('refuses a claim in the clean room by the names of the tests, and says where the checks ran', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [{ run: 'npm test' }] },
    files: {
      'package.json': packageJson,
      'lib.js': 'exports.add = (a, b) => a - b\n',
      'test/add.test.js': testFile(`test('adds', () => assert.equal(lib.add(1, 2), 3))`),
    },
    answers: {
      1: {
        run: "rm -r test && mkdir test && echo \"require('node:test')('fine', () => {})\" > test/fine.test.js",
        report: claim,
      },
      2: { run: `git checkout -q -- test 2>/dev/null; echo 'exports.add = (a, b) => a + b' > lib.js`, report: claim },
    },
  })

  expect((await sprint.run('--max-iterations', '1')).exitCode).not.toBe(0)
  const [first] = await sprint.iterations()
  expect(first).toMatchObject({ verdict: 'refused', proof: { tests: { missing: ['test/add.test.js > adds'] } } })
  expect(['clean', 'plain']).toContain(first?.proof?.room)
})
