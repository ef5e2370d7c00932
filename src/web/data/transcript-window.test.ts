import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../contract/fleet/event.ts'
import { appended, opened, prepended, windowSize } from './transcript-window.ts'

const id = '0198b6a0-0000-7000-8000-000000000001'
const text = (seq: number, iteration = 1): StoredEvent => ({
  id: `${seq}`,
  agentId: id,
  sprintId: id,
  seq,
  at: seq,
  event: { type: 'agent', iteration, attempt: 1, event: { kind: 'text', text: `thought ${seq}` } },
})
const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => text(from + n))
const seqs = ({ events }: { readonly events: readonly StoredEvent[] }) => events.map(({ seq }) => seq)
const start = opened({ items: [text(3), text(2)], next: 'c' })

describe('the loaded part of a transcript', () => {
  it('is oldest first, although pages arrive newest first', () => {
    expect([seqs(start), seqs(prepended(start, { items: [text(1), text(0)] }))]).toEqual([
      [2, 3],
      [0, 1, 2, 3],
    ])
  })

  it('ignores events that a new connection repeats', () => {
    expect(seqs(appended(start, [text(3), text(4)], {}))).toEqual([2, 3, 4])
  })

  it('accepts only events in its scope', () => {
    const scope = { iteration: 2, search: 'THOUGHT 5' }
    expect(seqs(appended(start, [text(4, 2), text(5, 2), text(5, 1)], scope))).toEqual([2, 3, 5])
  })

  it('drops the oldest events when it grows for days, and says so', () => {
    const grown = appended(start, upTo(4, windowSize * 1.3), {})
    expect({ count: grown.events.length, cut: grown.cut, older: grown.older }).toEqual({
      count: windowSize,
      cut: true,
      older: undefined,
    })
  })

  it('drops the newest events when the user reads far back, and then accepts no new ones', () => {
    const full = prepended(opened({ items: upTo(windowSize, windowSize * 2).toReversed() }), {
      items: upTo(0, 200).toReversed(),
      next: 'd',
    })
    expect({ first: full.events[0]?.seq, count: full.events.length, detached: full.detached }).toEqual({
      first: 0,
      count: windowSize,
      detached: true,
    })
    expect(appended(full, [text(windowSize * 3)], {})).toBe(full)
  })
})
