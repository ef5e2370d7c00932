import { expect, it } from 'vitest'
import { createSecretBox } from './secret-box.ts'

const key = 'k'.repeat(32)
const box = createSecretBox(key)
const wrong = expect.objectContaining({ code: 'SECRETS_KEY_WRONG' })

it('opens what it sealed, and seals the same text differently each time', () => {
  const [first, second] = [box.seal('whsec_x', 'webhook secret'), box.seal('whsec_x', 'webhook secret')]
  expect([box.open(first, 'webhook secret'), box.open(second, 'webhook secret')]).toEqual(['whsec_x', 'whsec_x'])
  expect(first).not.toBe(second)
  expect(first).not.toContain('whsec')
})

it.each([
  ['another key', () => createSecretBox('z'.repeat(32)).open(box.seal('x', 'authority key'), 'authority key')],
  ['no key', () => createSecretBox(undefined).open(box.seal('x', 'authority key'), 'authority key')],
  ['another purpose', () => box.open(box.seal('x', 'authority key'), 'webhook secret')],
  ['a changed text', () => box.open(box.seal('x', 'authority key').replace(/.$/, '!'), 'authority key')],
  ['a cut text', () => box.open('sealed1.AAAA', 'authority key')],
  ['a short key', () => createSecretBox('password')],
])('refuses %s with one clear error', (_, attempt) => {
  expect(attempt).toThrow(wrong)
})

it('still reads what was stored before there was a key, and knows that it is to be sealed', () => {
  expect(box.open('-----BEGIN', 'authority key')).toBe('-----BEGIN')
  expect([box.isOpen('-----BEGIN'), box.isOpen(box.seal('x', 'authority key'))]).toEqual([true, false])
  expect(createSecretBox(undefined).isOpen('-----BEGIN')).toBe(false)
})
