/** `4 s`, `41 min`, `2 h 10 min`, `3 d`: at most two units. */
export function formatDurationShort(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return minutes < 10 && seconds % 60 > 0 ? `${minutes} m ${seconds % 60} s` : `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d`
}

export const formatAgo = (at: number, now: number): string =>
  now - at < 1000 ? 'just now' : `${formatRoughly(now - at)} ago`

export const formatRoughly = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

/** `00:31`, `1:02:05`: since the start of the iteration. */
export function formatStopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const hours = Math.floor(seconds / 3600)
  return `${hours > 0 ? `${hours}:` : ''}${twoDigitText(Math.floor(seconds / 60) % 60)}:${twoDigitText(seconds % 60)}`
}

const twoDigitText = (value: number): string => String(value).padStart(2, '0')

const twoDigits = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const noDigits = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 })

/** Unknown cost is not zero cost. */
export function formatUsd(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return 'unpriced'
  return usd > 0 && usd < 0.005 ? '<$0.01' : twoDigits.format(usd)
}

/** `$10`, `$2.50`: a limit without trailing zeros. */
export const formatCap = (usd: number): string => (Number.isInteger(usd) ? noDigits.format(usd) : twoDigits.format(usd))

/** `212`, `4.1 k`, `1.9 M`. */
export function formatCount(value: number): string {
  if (value < 1000) return String(Math.round(value))
  if (value < 1_000_000) return `${shortNumber(value / 1000)} k`
  return `${shortNumber(value / 1_000_000)} M`
}

const shortNumber = (value: number): string =>
  value < 10 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value))

export function formatBytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3))
  return `${shortNumber(value / 1000 ** power)} ${units[power] ?? 'B'}`
}

const clockParts = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const clock = new Intl.DateTimeFormat(undefined, clockParts)
const clockWithSeconds = new Intl.DateTimeFormat(undefined, { ...clockParts, second: '2-digit' })
const dayAndClock = new Intl.DateTimeFormat(undefined, { ...clockParts, month: 'short', day: 'numeric' })
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** `20:49`, with the date if it is another day. */
export const formatTimeOfDay = (at: number, now: number): string =>
  Math.abs(at - now) < 18 * 3_600_000 ? clock.format(at) : dayAndClock.format(at)

export const formatExactTime = (at: number): string => clockWithSeconds.format(at)

/** With its time zone. */
export const formatFullTime = (at: number): string => full.format(at)

export const pluralize = (value: number, one: string, many = `${one}s`): string =>
  `${value} ${value === 1 ? one : many}`
