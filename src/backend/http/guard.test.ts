import { expect, it } from 'vitest'
import { RalphError } from '../../contract/errors.ts'
import { assertSameSite, loopbackAddresses, type GuardedRequest } from './guard.ts'

const ours: GuardedRequest = {
  method: 'POST',
  host: '127.0.0.1:7257',
  origin: 'http://127.0.0.1:7257',
  site: 'same-origin',
  contentType: 'application/json',
  opensPage: false,
}

const answerTo = (request: Partial<GuardedRequest>): string => {
  try {
    assertSameSite({ ...ours, ...request }, loopbackAddresses(7257))
    return 'accepted'
  } catch (error) {
    return error instanceof RalphError ? error.code : String(error)
  }
}

it.each<[string, Partial<GuardedRequest>, string]>([
  ['a request of our own page', {}, 'accepted'],
  ['our page under its other names', { host: 'localhost:7257', origin: 'http://localhost:7257' }, 'accepted'],
  ['IPv6', { host: '[::1]:7257', origin: 'http://[::1]:7257' }, 'accepted'],
  ['a program that is not a browser', { origin: undefined, site: undefined }, 'accepted'],
  ['a charset', { contentType: 'application/json; charset=utf-8' }, 'accepted'],
  [
    'a link to the page from another site',
    { method: 'GET', origin: undefined, site: 'cross-site', opensPage: true },
    'accepted',
  ],
  ['a typed address', { method: 'GET', origin: undefined, site: 'none' }, 'accepted'],
  ['a foreign name that resolves to us', { host: 'evil.example:7257' }, 'HOST_REFUSED'],
  ['another port', { host: '127.0.0.1:80' }, 'HOST_REFUSED'],
  ['no host name', { host: undefined }, 'HOST_REFUSED'],
  ['another origin', { origin: 'https://evil.example' }, 'ORIGIN_REFUSED'],
  ['an opaque origin', { origin: 'null' }, 'ORIGIN_REFUSED'],
  ['another port of this machine', { origin: 'http://127.0.0.1:3000', site: 'same-site' }, 'ORIGIN_REFUSED'],
  ['another site without an origin', { method: 'GET', origin: undefined, site: 'cross-site' }, 'ORIGIN_REFUSED'],
  ['a change by GET', { site: 'none', origin: undefined }, 'ORIGIN_REFUSED'],
  ['a form', { contentType: 'application/x-www-form-urlencoded' }, 'NOT_JSON'],
  ['text that looks like JSON', { contentType: 'text/plain' }, 'NOT_JSON'],
  ['no content type', { contentType: undefined }, 'NOT_JSON'],
  ['a content type that only starts like JSON', { contentType: 'application/jsonp' }, 'NOT_JSON'],
])('answers %s', (_, request, answer) => {
  expect(answerTo(request)).toBe(answer)
})
