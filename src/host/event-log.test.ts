import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../test/support/folder.ts'
import type { AgentEvent, SprintEvent } from '../contract/events.ts'
import { EventLog } from './event-log.ts'
import { EventReader } from './event-reader.ts'

const agentEvent = (event: AgentEvent): SprintEvent => ({ type: 'agent', iteration: 1, attempt: 1, event })
const addText = (log: EventLog, text: string, attempt = 'attempts/1-1') =>
  log.add({ at: 1000, event: agentEvent({ kind: 'text', text }), attempt })

const readTexts = async (log: EventLog, after = 0) =>
  (await log.read(after, 10_000)).map(({ event }) =>
    event.type === 'agent' && event.event.kind === 'text' ? event.event.text : event.type,
  )

describe('the event log', () => {
  it('numbers events without gaps across restarts, and skips events that a rejoined attempt repeats', async () => {
    const folder = createTestFolder()
    const first = await EventLog.open(folder)
    for (const text of ['a', 'b']) addText(first, text)
    await first.close()
    const second = await EventLog.open(folder)
    expect(second.lastSeq()).toBe(2)
    for (const text of ['a', 'b', 'c']) addText(second, text)
    addText(second, 'x', 'attempts/1-2')
    await second.close()
    const third = await EventLog.open(folder)
    expect(await readTexts(third)).toEqual(['a', 'b', 'c', 'x'])
    expect((await third.read(0, 10)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    expect(await readTexts(third, 2)).toEqual(['c', 'x'])
    await third.close()
  })

  it('asks to pause when many events wait, until they are written', async () => {
    const log = await EventLog.open(createTestFolder())
    for (let n = 1; n <= 1000; n++) addText(log, 'y')
    expect(log.drained()).toBeUndefined()
    addText(log, 'y')
    await log.drained()
    expect(log.lastSeq()).toBe(1001)
    expect(log.drained()).toBeUndefined()
    await log.close()
  })

  it('truncates long output and says where the rest is', async () => {
    const log = await EventLog.open(createTestFolder())
    const output = `begin${'x'.repeat(100_000)}end`
    log.add({ at: 1, event: agentEvent({ kind: 'tool', phase: 'end', id: '1', output }), attempt: 'attempts/1-1' })
    await expect.poll(() => log.read(0, 1)).toHaveLength(1)
    const [event] = await log.read(0, 1)
    expect(event?.clipped).toBe('attempts/1-1/transcript.jsonl')
    expect(JSON.stringify(event).length).toBeLessThan(20_000)
    expect(JSON.stringify(event)).toMatch(/begin.*omitted.*end/)
    await log.close()
  })

  it('keeps old segments until they are stored elsewhere, then only some', async () => {
    const folder = createTestFolder()
    const log = await EventLog.open(folder)
    const text = 'y'.repeat(15_000)
    for (let batch = 0; batch < 40; batch++) {
      for (let n = 0; n < 100; n++) addText(log, `${n} ${text}`)
      await expect.poll(() => log.lastSeq(), { interval: 5, timeout: 20_000 }).toBe((batch + 1) * 100)
    }
    expect((await log.read(0, 5)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
    const before = readdirSync(folder).length
    log.forget(4000)
    await expect.poll(() => readdirSync(folder).length).toBe(16)
    expect(before).toBeGreaterThan(16)
    expect((await log.read(3990, 5)).map(({ seq }) => seq)).toEqual([3991, 3992, 3993, 3994, 3995])
    await log.close()
  })

  it('starts a new segment if its file was deleted, so that readers find later events', async () => {
    const folder = createTestFolder()
    const log = await EventLog.open(folder)
    const reader = new EventReader(folder)
    addText(log, 'a')
    await expect.poll(() => log.lastSeq()).toBe(1)
    expect(await readNew(reader)).toEqual([1])
    rmSync(join(folder, '000000000001.log'))
    addText(log, 'b')
    await log.close()
    expect(await readNew(reader)).toEqual([2])
  })
})

const readNew = async (reader: EventReader) => (await reader.read()).map(({ event }) => event.seq)

describe('a reader of an event log', () => {
  it('returns each event once, after the last one that the caller knows', async () => {
    const folder = createTestFolder()
    const log = await EventLog.open(folder)
    const readers = [new EventReader(folder), new EventReader(folder, 1), new EventReader(folder, 9)]
    for (const text of ['a', 'b']) addText(log, text)
    await expect.poll(() => log.lastSeq()).toBe(2)
    expect(await Promise.all(readers.map(readNew))).toEqual([[1, 2], [2], []])
    addText(log, 'c')
    await log.close()
    expect(await Promise.all(readers.map(readNew))).toEqual([[3], [3], []])
    expect(await Promise.all(readers.map(readNew))).toEqual([[], [], []])
  })

  it('starts with the newest segments if it was away for long', async () => {
    const folder = createTestFolder()
    const log = await EventLog.open(folder)
    for (let batch = 0; batch < 10; batch++) {
      for (let n = 0; n < 100; n++) addText(log, `${n} ${'y'.repeat(15_000)}`)
      await expect.poll(() => log.lastSeq(), { interval: 5, timeout: 20_000 }).toBe((batch + 1) * 100)
    }
    await log.close()
    const seqs = await readNew(new EventReader(folder, 5))
    expect(readdirSync(folder).length).toBeGreaterThan(4)
    expect(seqs[0]).toBeGreaterThan(300)
    expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index))
    expect(seqs.at(-1)).toBe(1000)
  })

  it('returns nothing where there is no log', async () => {
    expect(await new EventReader(join(createTestFolder(), 'none')).read()).toEqual([])
  })
})
