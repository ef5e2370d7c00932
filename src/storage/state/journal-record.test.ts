import { describe, expect, it } from 'vitest'
import { formatRecord, readSegment, type JournalRecord } from './journal-record.ts'

const buildRecord = (
  seq: number,
  data: unknown = { type: 'told', text: `no. ${seq} – “ünïcödé” 😀` },
): JournalRecord => ({
  v: 1,
  seq,
  epoch: 1,
  at: '2026-11-15T12:00:00.000Z',
  kind: 'fact',
  data,
})
const toBytes = (...records: readonly JournalRecord[]) => Buffer.from(records.map((one) => formatRecord(one)).join(''))

const one = buildRecord(1)
const two = buildRecord(2)
const three = buildRecord(3)
const whole = toBytes(one, two, three)
const ends = [toBytes(one).length, toBytes(one, two).length, whole.length] as const

describe('a segment', () => {
  it('is a line of checksum and JSON per record', () => {
    expect(formatRecord(buildRecord(7, { a: 1 }))).toBe(
      '1f06d4ad {"v":1,"seq":7,"epoch":1,"at":"2026-11-15T12:00:00.000Z","kind":"fact","data":{"a":1}}\n',
    )
  })

  it('returns what was written', () => {
    expect(readSegment(whole)).toEqual({ records: [one, two, three], goodBytes: whole.length })
    expect(readSegment(Buffer.alloc(0))).toEqual({ records: [], goodBytes: 0 })
  })

  it('returns any content of a string', () => {
    const text = 'a\nb\r\u2028\u0085\0\ufeff\ud83d\ude00 \\ " \u007f'
    expect(readSegment(toBytes(buildRecord(1, { text }))).records).toEqual([buildRecord(1, { text })])
  })

  it('is torn where it was cut off, and everything before is intact', () => {
    for (let length = 0; length < whole.length; length++) {
      const good = ends.filter((end) => end <= length)
      const expected = {
        records: [one, two, three].slice(0, good.length),
        goodBytes: good.at(-1) ?? 0,
        ...(length > (good.at(-1) ?? 0) && { problem: 'torn' }),
      }
      expect(readSegment(whole.subarray(0, length)), `cut at ${length}`).toEqual(expected)
    }
  })

  it('is torn if it ends in the bytes that a disk puts where nothing was written', () => {
    for (const filler of [Buffer.alloc(4096), Buffer.alloc(100, '\n'), Buffer.alloc(100, 0xff)]) {
      expect(readSegment(Buffer.concat([toBytes(one), filler]))).toEqual({
        records: [one],
        goodBytes: ends[0],
        problem: 'torn',
      })
    }
  })

  it('never returns a wrong record with any byte changed, and is damaged if good records follow', () => {
    for (let at = 0; at < whole.length; at++) {
      for (const flip of [0x01, 0x20, 0x80, 0xff]) {
        const changed = Buffer.from(whole)
        changed[at] = (changed[at] ?? 0) ^ flip
        const hit = ends.findIndex((end) => at < end)
        expect(readSegment(changed), `byte ${at} ^ ${flip}`).toEqual({
          records: [one, two, three].slice(0, hit),
          goodBytes: ends[hit - 1] ?? 0,
          problem: hit === 2 ? 'torn' : 'damaged',
        })
      }
    }
  })

  it('is not trusted after a missing byte', () => {
    for (let at = 0; at < ends[1]; at++) {
      const hit = ends.findIndex((end) => at < end)
      const missing = Buffer.concat([whole.subarray(0, at), whole.subarray(at + 1)])
      expect(readSegment(missing), `without byte ${at}`).toMatchObject({
        records: [one, two, three].slice(0, hit),
        problem: 'damaged',
      })
    }
  })

  it.each([
    ['a record is missing', [one, three]],
    ['a record is there twice', [one, two, two]],
    ['records are in another order', [one, three, two]],
  ])('in which %s is read up to that record', (_, records) => {
    const { records: read, problem } = readSegment(toBytes(...records))
    expect(read).toEqual(records.slice(0, records[1] === two ? 2 : 1))
    expect(problem).toBe(records.length - read.length > 1 ? 'damaged' : 'torn')
  })

  it('does not accept a record of another version', () => {
    const other = formatRecord(one).replace('"v":1', '"v":2')
    expect(readSegment(Buffer.from(other))).toEqual({ records: [], goodBytes: 0, problem: 'torn' })
  })
})
