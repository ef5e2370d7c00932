import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../contract/fleet/event.ts'
import { appendToWindow, openWindow, prependPage, windowSize } from './transcript-window.ts'

const id = '0198b6a0-0000-7000-8000-000000000001'
const textEvent = (seq: number, iteration = 1): StoredEvent => ({
  id: `${seq}`,
  agentId: id,
  sprintId: id,
  seq,
  at: seq,
  event: { type: 'agent', iteration, attempt: 1, event: { kind: 'text', text: `thought ${seq}` } },
})
const eventRange = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => textEvent(from + n))
const listSeqs = ({ events }: { readonly events: readonly StoredEvent[] }) => events.map(({ seq }) => seq)
const start = openWindow({ items: [textEvent(3), textEvent(2)], next: 'c' })

describe('the loaded part of a transcript', () => {
  it('is oldest first, although pages arrive newest first', () => {
    expect([listSeqs(start), listSeqs(prependPage(start, { items: [textEvent(1), textEvent(0)] }))]).toEqual([
      [2, 3],
      [0, 1, 2, 3],
    ])
  })

  it('ignores events that a new connection repeats', () => {
    expect(listSeqs(appendToWindow(start, [textEvent(3), textEvent(4)], {}))).toEqual([2, 3, 4])
  })

  it('accepts only events in its scope', () => {
    const scope = { iteration: 2, search: 'THOUGHT 5' }
    expect(listSeqs(appendToWindow(start, [textEvent(4, 2), textEvent(5, 2), textEvent(5, 1)], scope))).toEqual([
      2, 3, 5,
    ])
  })

  it('drops the oldest events when it grows for days, and says so', () => {
    const grown = appendToWindow(start, eventRange(4, windowSize * 1.3), {})
    expect({ count: grown.events.length, cut: grown.cut, older: grown.older }).toEqual({
      count: windowSize,
      cut: true,
      older: undefined,
    })
  })

  it('drops the newest events when the user reads far back, and then accepts no new ones', () => {
    const full = prependPage(openWindow({ items: eventRange(windowSize, windowSize * 2).toReversed() }), {
      items: eventRange(0, 200).toReversed(),
      next: 'd',
    })
    expect({ first: full.events[0]?.seq, count: full.events.length, detached: full.detached }).toEqual({
      first: 0,
      count: windowSize,
      detached: true,
    })
    expect(appendToWindow(full, [textEvent(windowSize * 3)], {})).toBe(full)
  })
})
