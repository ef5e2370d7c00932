import { expect, it } from 'vitest'
import { createPaint } from '../io/paint.ts'
import { measureWidth } from '../io/width.ts'
import { pressOverlayKey, renderOverlay, type OverlayLayer } from './overlay.ts'

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
