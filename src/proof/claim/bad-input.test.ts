import { createServer } from 'node:http'
import { once } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import { claimAfter, createCheck, red } from '../../../test/support/claim.ts'
import { put, type Files } from '../../../test/support/room.ts'

const fix: Files = { 'lib.js': 'exports.add = (a, b) => a + b\n' }
const closing: (() => void)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

/** A service of this machine, and how often a check asked it. */
async function serve() {
  let calls = 0
  const server = createServer((_, response) => {
    calls++
    response.end('ok')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { port, calls: () => calls }
}

const ask = (port: number): Files => ({
  ...red,
  'ask.mjs': `await fetch('http://127.0.0.1:${port}/')\n`,
})

it('a check that needs a service on localhost reaches it from the room where the sprint says so', async () => {
  const { port } = await serve()
  const room = { network: true, services: [`localhost:${port}`] }
  const { recorded, proof } = await claimAfter(ask(port), (project) => put(project, fix), {
    check: createCheck('node ask.mjs && node --test', { room }),
  })
  expect(recorded.notes).toEqual([])
  expect(proof).toMatchObject({ verdict: 'proved', room: expect.not.stringContaining('in-place') })
})

it('without that setting it runs in the work tree, and the start names the setting', async () => {
  const { port } = await serve()
  const { recorded, proof } = await claimAfter(ask(port), (project) => put(project, fix), {
    check: createCheck('node ask.mjs && node --test'),
  })
  expect(recorded.notes.join()).toContain('network: true')
  expect(proof).toMatchObject({ verdict: 'proved', room: 'in-place' })
})

it('a long suite runs once where no test has changed: the run of the old tests is the same one', async () => {
  const { port, calls } = await serve()
  const wholeSuite: Files = {
    ...ask(port),
    'test/z.test.js': `const { test } = require('node:test'); test('asks', () => import('../ask.mjs'))\n`,
  }
  let before = 0
  const { proof } = await claimAfter(
    wholeSuite,
    (project) => {
      put(project, fix)
      before = calls()
    },
    { check: createCheck('node --test', { room: { network: true } }) },
  )
  expect(proof.verdict).toBe('proved')
  // Later runs are of the fixed test alone, which does not ask.
  expect(calls() - before).toBe(1)
})
