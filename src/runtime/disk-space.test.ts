import { expect, it } from 'vitest'
import { buildProgress, started } from '../../test/support/builders.ts'
import { RalphError } from '../contract/errors.ts'
import type { SprintEvent } from '../contract/events.ts'
import type { Ports } from './ports.ts'
import { isDiskFullError, createDiskFullSafeStore, retryOnDiskFull } from './disk-space.ts'

const full = () => new RalphError('DISK_FULL', 'no space left')

/** A disk that has space from the given query on, and a clock that never waits. */
function createTestDisk(looks: number) {
  const events: SprintEvent[] = []
  let looked = 0
  const ports: Pick<Ports, 'disk' | 'clock' | 'observe'> = {
    disk: { shortage: async () => (looked++ < looks ? '1 MB free' : undefined) },
    clock: { now: () => 0, waitUntil: async () => {} },
    observe: (event) => events.push(event),
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the code under test uses no other port
  return { ports: ports as Ports, texts: () => events.map((event) => ('text' in event ? event.text : event.type)) }
}

const neverAborted = new AbortController().signal

it('runs the work at once if there is space', async () => {
  const { ports, texts } = createTestDisk(0)
  expect(await retryOnDiskFull(async () => 'done', ports, neverAborted)).toBe('done')
  expect(texts()).toEqual([])
})

it('delays the work until there is space, and reports it once', async () => {
  const { ports, texts } = createTestDisk(3)
  expect(await retryOnDiskFull(async () => 'done', ports, neverAborted)).toBe('done')
  expect(texts()).toEqual([
    'paused: disk-full: 1 MB free; resumes when there is space again',
    'disk space is available again; resuming',
  ])
})

it('runs the work again if the disk filled up in the middle', async () => {
  const { ports, texts } = createTestDisk(0)
  let tries = 0
  const work = async () => {
    if (++tries < 3) throw full()
    return tries
  }
  expect(await retryOnDiskFull(work, ports, neverAborted)).toBe(3)
  expect(texts()[0]).toMatch(/^paused: disk-full: no space left/)
})

it('rethrows any other error', async () => {
  const { ports } = createTestDisk(0)
  const work = () => Promise.reject(new Error('broken'))
  await expect(retryOnDiskFull(work, ports, neverAborted)).rejects.toThrow('broken')
})

it('runs the work if the free space is unknown', async () => {
  const { ports } = createTestDisk(0)
  const blind = { ...ports, disk: { shortage: () => Promise.reject(new Error('who knows')) } }
  expect(await retryOnDiskFull(async () => 'done', blind, neverAborted)).toBe('done')
})

it('gives up when the signal aborts', async () => {
  const { ports } = createTestDisk(1000)
  const abort = new AbortController()
  const waiting = { ...ports, clock: { now: () => 0, waitUntil: async () => abort.abort() } }
  expect(await retryOnDiskFull(async () => 'done', waiting, abort.signal)).toEqual({ aborted: true })
})

it.each([
  ['the work succeeds', async () => {}],
  ['the work fails', () => Promise.reject(new Error('broken'))],
  ['the run is stopped', undefined],
])('no longer shows the pause once %s', async (_, work) => {
  const abort = new AbortController()
  const { ports } = createTestDisk(work ? 1 : 1000)
  const shown: (string | undefined)[] = []
  const showing: Ports = {
    ...ports,
    clock: { now: () => 0, waitUntil: async () => void (work ?? abort.abort()) },
    store: { save: async () => {}, showWaiting: async (reason) => void shown.push(reason) },
  }
  await retryOnDiskFull(work ?? (async () => {}), showing, abort.signal).catch(() => {})
  expect(shown).toEqual(['paused: disk-full: 1 MB free', undefined])
})

it.each([
  [full(), true],
  [Object.assign(new Error('x'), { code: 'ENOSPC' }), true],
  [Object.assign(new Error('x'), { code: 'EDQUOT' }), true],
  [Object.assign(new Error('x'), { code: 'EIO' }), false],
  ['ENOSPC', false],
])('detects a full disk: %s', (error, expected) => {
  expect(isDiskFullError(error)).toBe(expected)
})

const storing = (ports: Ports, save: Ports['store']['save']) => createDiskFullSafeStore({ ...ports, store: { save } })

it('retries a save that a full disk refused, until the caller gives up', async () => {
  let tries = 0
  const { ports } = createTestDisk(0)
  const patient = storing(ports, async () => {
    if (++tries < 4) throw full()
  })
  await patient.save(buildProgress(), started())
  expect(tries).toBe(4)

  const hopeless = storing(ports, () => Promise.reject(full()))
  hopeless.giveUp()
  await expect(hopeless.save(buildProgress(), started())).rejects.toMatchObject({ code: 'DISK_FULL' })
})

it('stops waiting for the disk as soon as the caller gives up', async () => {
  const { ports } = createTestDisk(0)
  const slow: Ports = {
    ...ports,
    clock: {
      now: () => 0,
      waitUntil: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    },
  }
  const patient = storing(slow, () => Promise.reject(full()))
  const saved = patient.save(buildProgress(), started())
  await new Promise((resolve) => setImmediate(resolve))
  patient.giveUp()

  await expect(saved).rejects.toMatchObject({ code: 'DISK_FULL' })
})
