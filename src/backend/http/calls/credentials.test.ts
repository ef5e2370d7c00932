import { expect, it } from 'vitest'
import { createCookie, readSessionCookie } from './credentials.ts'

const session = 'x'.repeat(43)

it('reads with TLS only the cookie that no sibling domain can set', () => {
  const plain = createCookie(session, false)
  const secure = createCookie(session, true)
  expect([readSessionCookie(plain, true), readSessionCookie(secure, true)]).toEqual([undefined, session])
  expect([readSessionCookie(plain, false), readSessionCookie(secure, false)]).toEqual([session, undefined])
  expect(readSessionCookie(`ralph-session=${'y'.repeat(43)}; ${secure}`, true)).toBe(session)
})
