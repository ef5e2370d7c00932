import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'done' }
const head = `const test = require('node:test'); const assert = require('node:assert'); const lib = require('../lib.js')`

/** Test `b` is red beside test `a`, and green when it runs alone. */
const createFlakySprint = (fix: string) =>
  createTestSprint({
    sprint: { 'done-when': [{ run: 'node --test' }] },
    files: {
      'lib.js': 'exports.add = (a, b) => a - b\n',
      'test/add.test.js': `${head}\ntest('adds', () => assert.equal(lib.add(1, 2), 3))\n`,
      'test/b.test.js': `${head}\ntest('a', () => lib.mark?.())\ntest('b', () => assert.ok(!lib.isMarked))\n`,
    },
    answers: { '*': { run: `printf '%s\\n' '${fix}' > lib.js`, report: claim } },
  })

it('names a test that flips on the same code, spends no iteration on it, and asks after the third time', async () => {
  const sprint = await createFlakySprint(
    'exports.add = (a, b) => a + b; exports.mark = () => (exports.isMarked = true)',
  )

  const { exitCode, stdout } = await sprint.run('--max-iterations', '5')

  expect(exitCode).toBe(2)
  expect(stdout.match(/flaky: red, and green when run again: test\/b\.test\.js > b\./g)).toHaveLength(2)
  expect(await sprint.calls()).toHaveLength(1)
  const progress = await sprint.progress()
  expect(progress).toMatchObject({
    status: 'needs-human',
    iterations: [{ number: 1, proof: { verdict: 'flaky', tests: { flaky: ['test/b.test.js > b'] } } }],
  })
  expect(JSON.stringify(progress['human-needed'])).toContain('test/b.test.js > b')
})
