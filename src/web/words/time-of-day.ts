const clockParts = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const clock = new Intl.DateTimeFormat(undefined, clockParts)
const clockWithSeconds = new Intl.DateTimeFormat(undefined, { ...clockParts, second: '2-digit' })
const dayAndClock = new Intl.DateTimeFormat(undefined, { ...clockParts, month: 'short', day: 'numeric' })
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const dayOnly = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** `20:49`, with the date if it is another day. */
export const formatTimeOfDay = (at: number, now: number): string =>
  Math.abs(at - now) < 18 * 3_600_000 ? clock.format(at) : dayAndClock.format(at)

export const formatExactTime = (at: number): string => clockWithSeconds.format(at)

/** With its time zone. */
export const formatFullTime = (at: number): string => full.format(at)

/** `Nov 5` for the day `2026-11-05`. */
export const formatDay = (day: string): string => dayOnly.format(Date.parse(day))
