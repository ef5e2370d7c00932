/** Host-only, hidden from scripts, and not sent with cross-site requests. */
const attributes = 'HttpOnly; SameSite=Strict; Path=/'

const nameOf = (secure: boolean): string => (secure ? '__Host-ralph-session' : 'ralph-session')

export const cookieOf = (session: string, secure: boolean): string =>
  `${nameOf(secure)}=${session}; ${attributes}${secure ? '; Secure' : ''}; Max-Age=604800`

export const endedCookie = (secure: boolean): string =>
  `${nameOf(secure)}=; ${attributes}${secure ? '; Secure' : ''}; Max-Age=0`

export function sessionIn(cookies: string | undefined): string | undefined {
  return /(?:^|;\s*)(?:__Host-)?ralph-session=([\w-]{20,200})/.exec(cookies ?? '')?.[1]
}

export const tokenIn = (authorization: string | undefined): string | undefined =>
  /^Bearer ([\w.-]{20,300})$/i.exec(authorization ?? '')?.[1]
