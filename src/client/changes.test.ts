import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { FleetChange } from '../contract/fleet/event.ts'
import { followChanges, type ChangeSource } from './changes.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const sprintId = '0197a000-0000-7000-8000-000000000001'
const lostFrame: FleetChange = { type: 'agent-gone', agentId: sprintId }

/** Records the opened connections in order, and the changes reported. */
function createTestFollower() {
  const sources: { url: string; open: boolean; say: (change: FleetChange, id?: string) => void; fail: () => void }[] =
    []
  const received: string[] = []
  const open = (url: string): ChangeSource => {
    const target = new EventTarget()
    const source = {
      url,
      open: true,
      say: (change: FleetChange, id = '') =>
        target.dispatchEvent(new MessageEvent(change.type, { data: JSON.stringify(change), lastEventId: id })),
      fail: () => target.dispatchEvent(new Event('error')),
    }
    sources.push(source)
    return { addEventListener: target.addEventListener.bind(target), close: () => void (source.open = false) }
  }
  const following = followChanges(
    { onChange: ({ type }) => void received.push(type), onState: (state) => void received.push(state) },
    { open },
  )
  const last = () => {
    const source = sources.at(-1)
    if (!source) throw new Error('no connection')
    return source
  }
  return { sources, received, following, last }
}

it('first asks for everything, then resumes from its position', () => {
  const { sources, received, last } = createTestFollower()
  last().say({ type: 'here' }, '1-1')
  last().say(lostFrame, '1-2')
  last().fail()
  vi.advanceTimersByTime(1000)
  last().say(lostFrame, '1-3')
  last().say({ type: 'here' }, '1-4')
  expect(received).toEqual(['start-over', 'live', 'agent-gone', 'lost', 'agent-gone', 'live'])
  expect(sources.map(({ url, open }) => [url, open])).toEqual([
    ['/api/events', false],
    ['/api/events?after=1-2', true],
  ])
})

it('retries forever with increasing pauses', () => {
  const { sources, received, last, following } = createTestFollower()
  const waits: number[] = []
  for (let attempt = 0; attempt < 9; attempt += 1) {
    const before = sources.length
    last().fail()
    let waited = 0
    for (; sources.length === before; waited += 100) vi.advanceTimersByTime(100)
    waits.push(waited)
  }
  const most = [1, 2, 4, 8, 16, 30, 30, 30, 30].map((seconds) => seconds * 1000 + 100)
  expect(waits.filter((waited, at) => waited > (most[at] ?? 0) || waited < (most[at] ?? 0) / 2 - 100)).toEqual([])
  last().say({ type: 'here' }, '1-1')
  last().fail()
  vi.advanceTimersByTime(1000)
  expect(sources.length).toBe(11)
  expect(received.slice(-3)).toEqual(['start-over', 'live', 'lost'])
  last().fail()
  following.retryNow()
  expect(sources.length).toBe(12)
})

it('reconnects when a connection stays silent', () => {
  const { sources, received, last } = createTestFollower()
  last().say({ type: 'here' }, '1-1')
  vi.advanceTimersByTime(39_000)
  last().say({ type: 'here' }, '1-1')
  vi.advanceTimersByTime(39_000)
  expect(received).toEqual(['start-over', 'live', 'live'])
  vi.advanceTimersByTime(2000)
  expect(received.at(-1)).toBe('lost')
  expect(sources.map(({ open }) => open)).toEqual([false, true])
})

it('reconnects when a new connection is not greeted, as behind a proxy that buffers', () => {
  const { sources, received } = createTestFollower()
  vi.advanceTimersByTime(14_000)
  expect(received).toEqual([])
  vi.advanceTimersByTime(2000)
  expect(received).toEqual(['lost'])
  expect(sources[0]?.open).toBe(false)
})

it('switches to another sprint from its position, over one connection', () => {
  const { sources, received, last, following } = createTestFollower()
  last().say({ type: 'here' }, '1-1')
  following.setScope({ sprintId })
  following.setScope({ sprintId })
  sources[0]?.say(lostFrame, '1-2')
  last().fail()
  following.setScope({})
  vi.advanceTimersByTime(1000)
  following.end()
  vi.advanceTimersByTime(100_000)
  expect(received).toEqual(['start-over', 'live', 'lost'])
  expect(sources.map(({ url, open }) => [url, open])).toEqual([
    ['/api/events', false],
    [`/api/events?sprintId=${sprintId}&after=1-1`, false],
    ['/api/events?after=1-1', false],
  ])
})
