import { expect, it } from 'vitest'
import { createCheck, claimAfter, testText } from '../../../test/support/claim.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { put, type Files } from '../../../test/support/room.ts'
import { chooseKept } from './kept-files.ts'

const reads = `const expected = JSON.parse(require('fs').readFileSync('answers.json', 'utf8')); assert.equal(lib.add(1, 2), expected.add)`
const project: Files = {
  '.gitignore': 'answers.json\n',
  'answers.json': '{"add":3}',
  'lib.js': 'exports.add = (a, b) => a - b\n',
  'test/add.test.js': testText('adds', reads),
  'test/other.test.js': testText('has a function', "assert.equal(typeof require('../answers.json').add, 'number')"),
}
const fix: Files = { 'lib.js': 'exports.add = (a, b) => a + b\n' }

it('gives the room ignored data that checks read, as it was at the start', async () => {
  const { recorded, proof } = await claimAfter(project, (folder) => put(folder, fix))
  expect(recorded.notes).toEqual([expect.stringContaining('not in git: answers.json')])
  expect(proof).toMatchObject({ verdict: 'proved', room: expect.not.stringContaining('in-place') })
})

it('asks when a check is red with the ignored data of the start, which was changed since', async () => {
  const { proof } = await claimAfter(project, (folder) => put(folder, { 'answers.json': '{"add":-1}' }))
  expect(proof).toMatchObject({ verdict: 'contested', reasons: ['Not in git, and not as at the start: answers.json'] })
})

it('asks when tests of the start were rewritten where a check has no room', async () => {
  const check = createCheck('node --test', { room: 'off' })
  const weak = testText('adds', 'assert.equal(lib.add(1, 2), -1)')
  const rewritten = await claimAfter(project, (folder) => put(folder, { 'test/add.test.js': weak }), { check })
  expect(rewritten.proof.verdict).toBe('contested')
  const more = testText('adds', reads) + "test('adds more', () => assert.equal(lib.add(2, 2), 4))\n"
  const added = await claimAfter(project, (folder) => put(folder, { ...fix, 'test/add.test.js': more }), { check })
  expect(added.proof.verdict).toBe('proved')
})

it('asks when the work loads a file that git ignores', async () => {
  const lib = "try { module.exports = require('./local/lib.js') } catch { exports.add = (a, b) => a + b }\n"
  const { proof } = await claimAfter(project, (folder) =>
    put(folder, { 'lib.js': lib, 'local/lib.js': 'exports.add = () => 0', '.gitignore': 'answers.json\nlocal/\n' }),
  )
  expect(proof).toMatchObject({ verdict: 'unproven', isForPeople: true, reasons: [expect.stringContaining('lib.js')] })
})

it('keeps small data, and nothing that a build makes', () => {
  const folder = createTestFolder()
  const files = ['.env.test', 'answers.json', 'dist/table.json', 'coverage/report.xml', 'tool.js', 'huge.csv']
  put(folder, { ...Object.fromEntries(files.map((path) => [path, 'x'])), 'huge.csv': 'x'.repeat(1024 ** 2 + 1) })
  expect(chooseKept(folder, files, '')).toEqual(['.env.test', 'answers.json'])
})
