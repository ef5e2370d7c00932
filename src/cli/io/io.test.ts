import { expect, it } from 'vitest'
import { sanitizeOutput } from './io.ts'

const hostile = 'a\u009b31m\u202eb\u2066c\u001b]52;c;eA==\u0007'

it('escapes in JSON for programs what would steer a terminal, with the same meaning', () => {
  const printed = sanitizeOutput(JSON.stringify({ text: hostile }), { isTTY: false })
  // oxlint-disable-next-line no-control-regex -- that is the point
  expect(printed).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  expect(JSON.parse(printed)).toEqual({ text: hostile })
})

it('prints anything else for programs unchanged: a patch must apply', () => {
  expect(sanitizeOutput(`+${hostile}`, { isTTY: false })).toBe(`+${hostile}`)
  expect(sanitizeOutput(`{ ${hostile}`, { isTTY: false })).toBe(`{ ${hostile}`)
})

it('lets nothing of it reach a terminal', () => {
  expect(sanitizeOutput(`+${hostile}`, { isTTY: true })).toBe('+a31mbc')
})
