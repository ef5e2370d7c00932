import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLineSplitter } from './line-splitter.ts'

function split(chunks: readonly Buffer[], cap?: number): string[] {
  const lines: string[] = []
  const splitter = createLineSplitter((line) => lines.push(line), cap)
  for (const chunk of chunks) splitter.push(chunk)
  splitter.end()
  return lines
}

/** Cuts the bytes into chunks of these sizes, repeatedly. */
function pieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

describe('lines of a stream', () => {
  it('are the same no matter how the stream is cut, even within a character', () => {
    const unit = fc.constantFrom('a', '"', 'é', '€', '😀', '\0', '\r', '\u2028', '\ufeff')
    const line = fc.string({ unit })
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        (lines, sizes) => {
          const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
          expect(split(pieces(bytes, sizes))).toEqual(lines.filter((text) => text !== ''))
        },
      ),
    )
  })

  it('include a last one without a newline', () => {
    expect(split([Buffer.from('one\ntw'), Buffer.from('o')])).toEqual(['one', 'two'])
  })

  it('survive bytes that are not text', () => {
    expect(split([Buffer.from([0xff, 0xfe, 0, 10]), Buffer.from('next\n')])).toEqual(['\ufffd\ufffd\0', 'next'])
  })

  it('are cut at the cap, whether they arrive at once or in chunks', () => {
    const bytes = Buffer.from(`${'x'.repeat(100)}\nshort\n`)
    expect(split([bytes], 10)).toEqual(['x'.repeat(10), 'short'])
    expect(split(pieces(bytes, [3]), 10)).toEqual(['x'.repeat(10), 'short'])
  })
})

it('survive 64 MB with flat memory, and the next line is found', () => {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const lines: number[] = []
  let last = ''
  const splitter = createLineSplitter((line) => {
    lines.push(line.length)
    last = line
  }, 1024 * 1024)
  splitter.push(chunk)
  const before = process.memoryUsage().rss
  for (let n = 0; n < 1023; n++) splitter.push(chunk)
  const grown = process.memoryUsage().rss - before
  splitter.push(Buffer.from('\n{"type":"result"}\n'))

  expect({ lines, last }).toEqual({ lines: [1024 * 1024, 17], last: '{"type":"result"}' })
  expect(grown).toBeLessThan(24 * 1024 * 1024)
})
