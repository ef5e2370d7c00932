import { expect, it } from 'vitest'
import { createFrameJoiner } from './frame-joiner.ts'

it('joins frames, and shares the bytes between clients with the same frames', () => {
  const encode = (text: string) => new TextEncoder().encode(text)
  const [a, b, c] = [encode('a'), encode('b'), encode('c')]
  const join = createFrameJoiner()
  expect(join([])).toBeUndefined()
  expect(join([a])).toBe(a)
  expect(Buffer.from(join([a, b]) ?? a).toString()).toBe('ab')
  expect(join([a, b])).toBe(join([a, b]))
  expect(Buffer.from(join([a, c]) ?? a).toString()).toBe('ac')
})
