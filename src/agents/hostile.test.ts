import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recorded } from '../../test/fixtures/transcripts/recorded.ts'
import { AgentEvent } from '../contract/events.ts'
import type { Driver } from './drivers/driver.ts'
import { getDriver } from './drivers/registry.ts'

const exit = { code: 0, signal: null, stderrTail: '' }
const named = ['claude', 'codex', 'gemini', 'opencode', 'acp', 'scripted']
const drivers: readonly Driver[] = named.map(getDriver)
const parseAll = (driver: Driver, lines: readonly string[]) => {
  const reader = driver.read()
  return { events: lines.flatMap((line) => reader.parse(line)), outcome: reader.finish(exit) }
}

describe.each(drivers)('$name reading output of another program', (driver) => {
  it.each([
    ['a banner', '  __( O)>  ● new session'],
    ['HTML', '<!doctype html><html><body>502 Bad Gateway</body></html>'],
    ['half a line', '{"type":"result","subtype":"succ'],
    ['a number', '42'],
    ['a list', '[{"type":"result"}]'],
    ['null', 'null'],
    ['nothing but spaces', '   '],
    ['an unknown event', '{"type":"brand_new","data":{"a":1}}'],
    ['an object without a type', '{}'],
  ])('keeps %s as raw, and fails', (_, line) => {
    const { events, outcome } = parseAll(driver, [line])

    expect(events).toEqual([{ kind: 'raw', line }])
    expect(outcome).toMatchObject({ status: 'failed', class: 'crash' })
  })

  it('survives fields of any type in its own lines', () => {
    const lines = driver.name === 'scripted' ? [] : recorded(driver.name).flatMap((stream) => stream.lines)
    const objects = lines.filter((line) => line.startsWith('{"')).slice(0, 200)
    fc.assert(
      fc.property(fc.array(mangled(objects), { maxLength: 20 }), (mangledLines) => {
        const { events, outcome } = parseAll(driver, mangledLines)
        for (const event of events) AgentEvent.parse(event)
        expect(typeof outcome.text).toBe('string')
      }),
      { numRuns: 200 },
    )
  })
})

it.each(['claude', 'command'])('%s continues after a line of 100 MB', (name) => {
  const huge = 'x'.repeat(100 * 1024 * 1024)
  const reader = getDriver(name).read()
  reader.parse(huge)
  reader.parse(`{"type":"${huge}"}`)
  reader.parse('{"type":"result","subtype":"success","is_error":false,"result":"done"}')

  expect(reader.finish(exit)).toMatchObject({ status: 'ok', text: 'done' })
})

/** A line of a real stream with one of its values replaced, at any depth. */
const mangled = (lines: readonly string[]): fc.Arbitrary<string> =>
  lines.length === 0
    ? fc.json()
    : fc
        .tuple(fc.constantFrom(...lines), fc.nat(), fc.jsonValue())
        .map(([line, which, value]) => JSON.stringify(replaceOne(JSON.parse(line), which, value)))

/** Picks the value by the digits of `which`, so that every place can be hit. */
function replaceOne(node: unknown, which: number, value: unknown): unknown {
  if (typeof node !== 'object' || node === null || which % 5 === 0) return value
  const entries = Object.entries(node)
  const chosen = which % Math.max(1, entries.length)
  const changed = entries.map(([key, old], index) => [key, index === chosen ? replaceOne(old, which >> 3, value) : old])
  return Array.isArray(node) ? changed.map(([, item]) => item) : Object.fromEntries(changed)
}
