import { expect, it } from 'vitest'
import { claimAfter, green, red, testText } from '../../../test/support/claim.ts'
import { put, type Files } from '../../../test/support/room.ts'

const eq = 'exports.eq = (a, b) => {\n  if (a !== b) throw new Error(`${a} is not ${b}`)\n}\n'
const body = "require('../kit/eq.js').eq(lib.add(1, 2), 3)"
const files: Files = { ...red, 'kit/eq.js': eq, 'test/add.test.js': testText('adds', body) }

it('asks a person about a claim that rests on an emptied helper of the tests, whatever it is called', async () => {
  const cheat = { 'kit/eq.js': 'exports.eq = () => {}\n', 'lib.js': 'exports.add = (a, b) => a - b // fixed\n' }
  const { proof } = await claimAfter(files, (project) => put(project, cheat))
  const reasons = ['The tests pass even if kit/eq.js does nothing, so it looks like a part of the tests.']
  expect(proof).toMatchObject({ verdict: 'unproven', isForPeople: true, reasons })
})

it('takes a fix beside a better message of that helper', async () => {
  const honest = { 'kit/eq.js': eq.replace('is not', 'should be'), 'lib.js': 'exports.add = (a, b) => a + b\n' }
  expect((await claimAfter(files, (project) => put(project, honest))).proof).toMatchObject({ verdict: 'proved' })
})

it('takes a fix that only removes a throw from what other code loads', async () => {
  const close = (end: string) => `exports.close = (store) => {\n  store.timer${end}.clear()\n}\n`
  const closes = "require('../store.js').close({})"
  const app = "const { close } = require('./store.js')\nexports.stop = (app) => close(app.store)\n"
  const start = { ...green, 'store.js': close(''), 'app.js': app, 'test/close.test.js': testText('closes', closes) }
  const { proof } = await claimAfter(start, (project) => put(project, { 'store.js': close('?') }))
  expect(proof).toMatchObject({ verdict: 'proved' })
})

it('takes a changed snapshot that may change for a new test', async () => {
  const looks = "assert.equal(lib.show(3), require('fs').readFileSync('test/__snapshots__/a.txt', 'utf8'))"
  const show = (word: string): Files => ({
    'lib.js': `exports.add = (a, b) => a + b\nexports.show = (n) => '${word} ' + n\n`,
    'test/__snapshots__/a.txt': `${word} 3`,
  })
  const start = { ...green, ...show('sum'), 'test/show.test.js': testText('shows', looks) }
  const options = { mayChange: ['**/__snapshots__/**'] }
  const { proof } = await claimAfter(start, (project) => put(project, show('total')), { options })
  expect(proof).toMatchObject({ verdict: 'proved', reasons: ['red without the change: test/show.test.js > shows'] })
})
