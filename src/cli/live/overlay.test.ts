import { expect, it } from 'vitest'
import { createPaint } from '../io/paint.ts'
import { measureWidth } from '../io/width.ts'
import { pressOverlayKey, renderOverlay, sanitizeOverlay, wrapLines, type OverlayLayer } from './overlay.ts'

const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1} 日本語`)
const layer: OverlayLayer = { content: { kind: 'text', title: 'a text', lines }, position: 0 }
const size = { columns: 80, rows: 24 }
const pressKeys = (...keys: readonly string[]) =>
  keys.reduce<OverlayLayer>((shown, key) => {
    const step = pressOverlayKey(shown, key, size)
    return step.do === 'show' ? step.layer : shown
  }, layer)

it.each([
  [40, 12],
  [80, 24],
  [120, 35],
  [200, 50],
])('fills %i x %i and never exceeds it', (columns, rows) => {
  const shown = renderOverlay(layer, { columns, rows }, createPaint(false))

  expect(shown).toHaveLength(rows - 1)
  expect(shown.filter((line) => measureWidth(line) > columns)).toEqual([])
})

it.each([
  ['arrows', ['\u001b[B', '\u001b[B', '\u001b[A'], 1],
  ['pages', [' ', ' ', 'b'], 20],
  ['ends', ['G'], 80],
  ['both ends', ['G', 'g'], 0],
  ['no further than the first line', ['\u001b[A'], 0],
])('scrolls by %s', (_, keys, position) => {
  expect(pressKeys(...keys).position).toBe(position)
})

it('continues long lines on the next row, scrolls to their end, and finds a text that the rows split', () => {
  const narrow = { columns: 30, rows: 10 }
  const long: OverlayLayer = {
    content: {
      kind: 'text',
      title: 't',
      lines: ['first', `\u001b[32m+${'word '.repeat(12)}needle here\u001b[39m`, ...lines],
    },
    position: 0,
  }
  const [, , ...body] = renderOverlay(long, narrow, createPaint(false))
  expect(body.slice(0, 5)).toEqual([
    'first',
    '\u001b[32m+word word word word word\u001b[39m',
    '\u001b[32m  word word word word word\u001b[39m',
    '\u001b[32m  word word needle here\u001b[39m',
    'line 1 日本語',
  ])
  expect(body.at(-1)).toBe('↑↓ scroll   / search   Esc ba…')

  const press = (from: OverlayLayer, keys: readonly string[]) =>
    keys.reduce((layer_, key) => {
      const step = pressOverlayKey(layer_, key, narrow)
      return step.do === 'show' ? step.layer : layer_
    }, from)
  expect(renderOverlay(press(long, ['G']), narrow, createPaint(false))[7]).toBe('line 100 日本語')
  const found = press(long, ['/', ...'WORD NEEDLE'.split(''), '\r'])
  expect(found.position).toBe(1)
  expect(press(found, ['n']).position).toBe(1)
  expect(press({ ...long, position: 3 }, ['/', ...'line 1'.split(''), '\r', 'n']).position).toBe(13)
})

it('shows the end of a text that was scrolled further in a narrower terminal, and scrolls from there', () => {
  const long = Array.from({ length: 30 }, (_, index) => `${index} ${'word '.repeat(20)}`)
  const scrolled: OverlayLayer = { content: { kind: 'text', title: 't', lines: long }, position: 100 }
  const wide = { columns: 200, rows: 14 }
  const first = (shown: OverlayLayer) => renderOverlay(shown, wide, createPaint(false))[2]

  expect(first(scrolled)).toMatch(/^20 word/)
  expect(pressOverlayKey(scrolled, 'k', wide)).toMatchObject({ layer: { position: 19 } })
})

it('wraps a text once for each width', () => {
  const rows = wrapLines(lines, { columns: 10 })

  expect(wrapLines(lines, { columns: 10 })).toBe(rows)
  expect(wrapLines(lines, { columns: 80 })).toHaveLength(lines.length)
})

it('searches without regard to case, and wraps around', () => {
  expect(pressKeys('/', 'L', 'I', 'N', 'E', ' ', '5', '0', '\r').position).toBe(49)
  expect(pressKeys('/', 'l', 'i', 'n', 'e', ' ', '5', '0', '\r', 'n').position).toBe(49)
  expect(pressKeys('/', 'x', '\u001b')).not.toHaveProperty('typing')
})

it('passes keys that do nothing in the help on to the live view', () => {
  const help: OverlayLayer = { content: { kind: 'text', title: 'keys', lines, isHelp: true }, position: 0 }

  expect(pressOverlayKey(help, 't', size)).toEqual({ do: 'pass' })
  expect(pressOverlayKey(help, '\u001b', size)).toEqual({ do: 'back' })
})

it('shows no control sequence of an agent or a file, but keeps the colours of Ralph', () => {
  const steering = '\u001b]0;title\u0007\u001b[2J\u001b[31mred\u001b[0m\r'
  const entry = { text: steering, preview: [steering], open: async () => layer.content }

  expect(sanitizeOverlay({ kind: 'text', title: 't', lines: [steering] })).toMatchObject({
    lines: ['\u001b[31mred\u001b[0m'],
  })
  expect(sanitizeOverlay({ kind: 'list', title: 't', entries: [entry] })).toMatchObject({
    entries: [{ text: '\u001b[31mred\u001b[0m', preview: ['\u001b[31mred\u001b[0m'] }],
  })
})
