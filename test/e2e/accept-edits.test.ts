import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'done' }
const proceed = { status: 'continue', summary: 's' }
const head = `const test = require('node:test'); const assert = require('node:assert'); const lib = require('../lib.js')`
const testText = (name: string, expected: number) =>
  `${head}\ntest('${name}', () => assert.equal(lib.add(1, 2), ${expected}))\n`
const files = {
  'lib.js': 'exports.add = (a, b) => a - b\n',
  'test/add.test.js': testText('adds', 3),
  'test/more.test.js': testText('adds more', 3),
}

it('measures claims against tests that the user edited between two runs, once the user accepts the changes', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [{ run: 'node --test' }] },
    files,
    answers: { 1: proceed, '*': { run: "echo 'exports.add = () => 30' > lib.js", report: claim } },
  })
  expect((await sprint.run('--max-iterations', '1')).exitCode).toBe(3)
  await writeFile(sprint.at('test/add.test.js'), testText('adds tens', 30))
  await writeFile(sprint.at('test/more.test.js'), testText('adds more', 30))

  const { exitCode, stdout } = await sprint.run('--max-iterations', '2', '--accept-changes')

  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringContaining('your edits count from now on: test/add.test.js, test/more.test.js'),
  })
})

it('never takes what an agent did to the tests for an edit of the user', async () => {
  const weaken = `${head.replaceAll("'", '"')}; test("adds", () => {}); test("adds more", () => {})`
  const sprint = await createTestSprint({
    sprint: { 'done-when': [{ run: 'node --test' }] },
    files,
    answers: {
      1: { run: `echo '${weaken}' > test/add.test.js; rm test/more.test.js`, report: proceed },
      '*': claim,
    },
  })
  expect((await sprint.run('--max-iterations', '1')).exitCode).toBe(3)
  await writeFile(sprint.at('test/add.test.js'), `${await readFile(sprint.at('test/add.test.js'), 'utf8')}// mine\n`)

  const { exitCode, stdout } = await sprint.run('--max-iterations', '2', '--accept-changes')

  expect(exitCode).not.toBe(0)
  expect(stdout).toContain('an agent had changed these too, so those of the start still count: test/add.test.js')
})
