import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../test/support/folder.ts'
import type { AgentEvent, SprintEvent } from '../contract/events.ts'
import { openEventJournal, type EventJournal } from './event-journal.ts'

const agentEvent = (event: AgentEvent): SprintEvent => ({ type: 'agent', iteration: 1, attempt: 1, event })
const addText = (journal: EventJournal, text: string, attempt = 'attempts/1-1') =>
  journal.add({ at: 1000, event: agentEvent({ kind: 'text', text }), attempt })

const readTexts = async (journal: EventJournal, after = 0) =>
  (await journal.read(after, 10_000)).map(({ event }) =>
    event.type === 'agent' && event.event.kind === 'text' ? event.event.text : event.type,
  )

describe('the event journal of an agent', () => {
  it('numbers events without gaps across restarts, and skips events that a rejoined attempt repeats', async () => {
    const folder = createTestFolder()
    const first = await openEventJournal(folder)
    for (const text of ['a', 'b']) addText(first, text)
    await first.close()
    const second = await openEventJournal(folder)
    expect(second.lastSeq()).toBe(2)
    for (const text of ['a', 'b', 'c']) addText(second, text)
    addText(second, 'x', 'attempts/1-2')
    await second.close()
    const third = await openEventJournal(folder)
    expect(await readTexts(third)).toEqual(['a', 'b', 'c', 'x'])
    expect((await third.read(0, 10)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    expect(await readTexts(third, 2)).toEqual(['c', 'x'])
    await third.close()
  })

  it('truncates long output and says where the rest is', async () => {
    const journal = await openEventJournal(createTestFolder())
    const output = `begin${'x'.repeat(100_000)}end`
    journal.add({ at: 1, event: agentEvent({ kind: 'tool', phase: 'end', id: '1', output }), attempt: 'attempts/1-1' })
    await expect.poll(() => journal.read(0, 1)).toHaveLength(1)
    const [event] = await journal.read(0, 1)
    expect(event?.clipped).toBe('attempts/1-1/transcript.jsonl')
    expect(JSON.stringify(event).length).toBeLessThan(20_000)
    expect(JSON.stringify(event)).toMatch(/begin.*omitted.*end/)
    await journal.close()
  })

  it('keeps old segments until they are stored elsewhere, then only some', async () => {
    const folder = createTestFolder()
    const journal = await openEventJournal(folder)
    const text = 'y'.repeat(15_000)
    for (let batch = 0; batch < 30; batch++) {
      for (let n = 0; n < 100; n++) addText(journal, `${n} ${text}`)
      await expect.poll(journal.lastSeq, { interval: 5, timeout: 20_000 }).toBe((batch + 1) * 100)
    }
    expect((await journal.read(0, 5)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
    const before = readdirSync(folder).length
    journal.forget(3000)
    await expect.poll(() => readdirSync(folder).length).toBe(8)
    expect(before).toBeGreaterThan(8)
    expect((await journal.read(2990, 5)).map(({ seq }) => seq)).toEqual([2991, 2992, 2993, 2994, 2995])
    await journal.close()
  })
})
