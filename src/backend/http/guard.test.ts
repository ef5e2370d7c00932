import { expect, it } from 'vitest'
import { RalphError } from '../../contract/errors.ts'
import { guard, loopbackAddresses, type Asked } from './guard.ts'

const ours: Asked = {
  method: 'POST',
  host: '127.0.0.1:7257',
  origin: 'http://127.0.0.1:7257',
  site: 'same-origin',
  contentType: 'application/json',
  opensPage: false,
}

const answerTo = (asked: Partial<Asked>): string => {
  try {
    guard({ ...ours, ...asked }, loopbackAddresses(7257))
    return 'let in'
  } catch (error) {
    return error instanceof RalphError ? error.code : String(error)
  }
}

it.each<[string, Partial<Asked>, string]>([
  ['a request of our own page', {}, 'let in'],
  ['our page under its other names', { host: 'localhost:7257', origin: 'http://localhost:7257' }, 'let in'],
  ['IPv6', { host: '[::1]:7257', origin: 'http://[::1]:7257' }, 'let in'],
  ['a program that is no browser', { origin: undefined, site: undefined }, 'let in'],
  ['a charset', { contentType: 'application/json; charset=utf-8' }, 'let in'],
  [
    'a link to the page from elsewhere',
    { method: 'GET', origin: undefined, site: 'cross-site', opensPage: true },
    'let in',
  ],
  ['an address that was typed', { method: 'GET', origin: undefined, site: 'none' }, 'let in'],
  ['a name that was pointed at us', { host: 'evil.example:7257' }, 'HOST_REFUSED'],
  ['another port', { host: '127.0.0.1:80' }, 'HOST_REFUSED'],
  ['no name at all', { host: undefined }, 'HOST_REFUSED'],
  ['another origin', { origin: 'https://evil.example' }, 'ORIGIN_REFUSED'],
  ['an origin that is hidden', { origin: 'null' }, 'ORIGIN_REFUSED'],
  ['another port of this machine', { origin: 'http://127.0.0.1:3000', site: 'same-site' }, 'ORIGIN_REFUSED'],
  ['another site without an origin', { method: 'GET', origin: undefined, site: 'cross-site' }, 'ORIGIN_REFUSED'],
  ['a change by an address', { site: 'none', origin: undefined }, 'ORIGIN_REFUSED'],
  ['a form', { contentType: 'application/x-www-form-urlencoded' }, 'NOT_JSON'],
  ['text that looks like JSON', { contentType: 'text/plain' }, 'NOT_JSON'],
  ['no type', { contentType: undefined }, 'NOT_JSON'],
  ['a type that only starts like ours', { contentType: 'application/jsonp' }, 'NOT_JSON'],
])('answers %s', (_, asked, answer) => {
  expect(answerTo(asked)).toBe(answer)
})
