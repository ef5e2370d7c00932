import { expect, it } from 'vitest'
import { decide, parseRule, urlRule } from './allow-list.ts'

const rules = [parseRule('example.com', false), parseRule('*.wild.test', false), parseRule('git.corp:8443', true)]

it.each([
  ['example.com', 443],
  ['EXAMPLE.com.', 80],
  ['a.b.wild.test', 443],
  ['git.corp', 8443],
])('allows %s:%i', (host, port) => {
  expect(decide(rules, host, port)).toMatchObject({ allowed: true })
})

it.each([
  ['wild.test', 443, 'not in the allow-list'],
  ['example.com.evil.test', 443, 'not in the allow-list'],
  ['notexample.com', 443, 'not in the allow-list'],
  ['example.com', 22, 'port 22 is not in the allow-list'],
  ['git.corp', 443, 'port 443 is not in the allow-list'],
  ['10.0.0.1:22#.wild.test', 443, 'not a host name'],
  ['127.0.0.1/.wild.test', 443, 'not a host name'],
  ['127.0.0.1', 443, 'an address instead of a name'],
  ['2130706433', 80, 'an address instead of a name'],
  ['0x7f.1', 80, 'an address instead of a name'],
  ['[::1]', 80, 'an address instead of a name'],
  ['::ffff:127.0.0.1', 80, 'an address instead of a name'],
])('refuses %s:%i, because %s', (host, port, reason) => {
  expect(decide(rules, host, port)).toEqual({ allowed: false, reason })
})

it('allows an address that the user configured himself', () => {
  const rule = urlRule('http://127.0.0.1:8080/v1')
  expect(rule).toEqual({ host: '127.0.0.1', port: 8080, private: true })
  expect(decide(rule ? [rule] : [], '127.0.0.1', 8080)).toMatchObject({ allowed: true })
  expect(decide(rule ? [rule] : [], '127.0.0.1', 8081)).toMatchObject({ allowed: false })
})

it.each(['https://example.com', 'example.com/path', 'exa mple.com', '', '*', '*.', 'a:b', 'host:123456'])(
  'does not take %j for a host',
  (text) => {
    expect(() => parseRule(text, false)).toThrow(expect.objectContaining({ code: 'NETWORK_RULE_INVALID' }))
  },
)
