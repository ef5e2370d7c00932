import { createHash, timingSafeEqual } from 'node:crypto'
/** Host-only, hidden from scripts, and not sent with cross-site requests. */
const attributes = 'HttpOnly; SameSite=Strict; Path=/'

const cookieName = (secure: boolean): string => (secure ? '__Host-ralph-session' : 'ralph-session')

export const createCookie = (session: string, secure: boolean): string =>
  `${cookieName(secure)}=${session}; ${attributes}${secure ? '; Secure' : ''}; Max-Age=604800`

export const createExpiredCookie = (secure: boolean): string =>
  `${cookieName(secure)}=; ${attributes}${secure ? '; Secure' : ''}; Max-Age=0`

/**
 * With TLS only the `__Host-` cookie counts: browsers accept it from this host alone, while a sibling domain could set
 * the plain one.
 */
export function readSessionCookie(cookies: string | undefined, secure: boolean): string | undefined {
  return (secure ? secureSession : plainSession).exec(cookies ?? '')?.[1]
}

const secureSession = /(?:^|;\s*)__Host-ralph-session=([\w-]{20,200})/
const plainSession = /(?:^|;\s*)ralph-session=([\w-]{20,200})/

/** Compares without telling by its duration how much is right. */
export function isSameSecret(candidate: string | undefined, right: string): boolean {
  const [a, b] = [candidate ?? '', right].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}

export const readBearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer ([\w.-]{20,300})$/i.exec(authorization ?? '')?.[1]
