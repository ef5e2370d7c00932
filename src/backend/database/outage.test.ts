import { DrizzleQueryError } from 'drizzle-orm'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { RalphError } from '../../contract/errors.ts'
import { explainOutage } from './database-unavailable.ts'
import { createOutageFilter, createOutageWatch } from './outage.ts'

/** Node throws the same error when a client leaves during its upload. */
const lostConnection = (message = 'aborted') => Object.assign(new Error(message), { code: 'ECONNRESET' })

function watchOutages(probe = () => Promise.resolve(), times = { probeIntervalMs: 5, quietMs: 20 }) {
  const lines: string[] = []
  const log = (text: string) => void lines.push(text)
  const watch = createOutageWatch({ probe, log, now: () => performance.now(), times })
  onTestFinished(watch.close)
  const filter = createOutageFilter()
  return { lines, watch, covers: (error: unknown, doing: string) => filter.covers(error, doing, watch) }
}

it('takes only errors of the database for an outage', () => {
  const { lines, covers } = watchOutages()
  expect(covers(lostConnection(), 'request')).toBe(false)
  expect(lines).toEqual([])
  expect(covers(new DrizzleQueryError('select 1', [], lostConnection()), 'request')).toBe(true)
  expect(covers(lostConnection(), 'engine')).toBe(true)
  expect(lines).toHaveLength(1)
})

it('knows the error of a transaction again when its caller throws it', () => {
  const { lines, covers } = watchOutages()
  const thrown = lostConnection('read ECONNRESET')
  expect(covers(explainOutage(thrown), 'database')).toBe(true)
  expect(covers(thrown, 'request')).toBe(true)
  expect(covers(new Error('the sweep failed', { cause: thrown }), 'sweep')).toBe(true)
  expect(lines).toHaveLength(1)
})

it('during an outage, hides no missing file and no program that has ended', () => {
  const { covers } = watchOutages()
  expect(covers(lostConnection(), 'database')).toBe(true)
  expect(covers(new Error('listing queues: connect ENOENT /run/postgresql/.s.PGSQL.5432'), 'engine')).toBe(true)
  for (const text of [
    'ENOENT: no such file or directory, open notes.md',
    'spawn git ENOENT',
    'EPIPE: broken pipe, write',
  ])
    expect([text, covers(new Error(text), 'engine')]).toEqual([text, false])
})

it('before the watch is open, leaves out only outages, which the start throws itself', () => {
  const { covers } = createOutageFilter()
  expect(covers(lostConnection(), 'database', undefined)).toBe(true)
  expect(covers(new RalphError('MACHINE_UNREACHABLE', 'the machine is away'), 'engine', undefined)).toBe(false)
})

it('logs the end of an outage once, when writes have worked for a while', async () => {
  let isAway = true
  const { lines, covers } = watchOutages(async () => {
    if (isAway) throw lostConnection()
  })
  covers(lostConnection(), 'database')
  await sleep(50)
  expect(lines).toHaveLength(1)
  isAway = false
  await vi.waitFor(() => expect(lines[1]).toMatch(/^the database works again, after \d+ s$/))
  await sleep(50)
  expect(lines).toHaveLength(2)
})

it('neither logs nor tries again after it is closed in the middle of a try', async () => {
  const tries: ((error: Error) => void)[] = []
  const { lines, watch, covers } = watchOutages(() => new Promise((_, reject) => void tries.push(reject)))
  covers(lostConnection(), 'database')
  await vi.waitFor(() => expect(tries).toHaveLength(1))
  watch.close()
  tries[0]?.(lostConnection())
  await sleep(50)
  expect([lines.length, tries.length]).toEqual([1, 1])
})

it('logs the text of the engine if the database fails for another reason', async () => {
  const { lines, covers } = watchOutages(() => Promise.reject(new Error('column "filler" does not exist')))
  expect(covers(new Error('dequeue: connect ECONNREFUSED 127.0.0.1:5432'), 'engine')).toBe(true)
  await vi.waitFor(() => expect(lines).toEqual(['dequeue: connect ECONNREFUSED 127.0.0.1:5432']))
})
