/** `1.2 s`, `41 s`, `3 min 12 s`, `2 h 10 min`: precise enough to compare two runs. */
export function formatHumanDuration(ms: number): string {
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 60_000) return `${Math.min(59, Math.round(ms / 1000))} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

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

/** `50 s`, `2 min`, `3 h`, `4 d`: one unit, rounded. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

export const formatAgo = (at: number, now: number): string =>
  now - at < 1000 ? 'just now' : `${formatAge(now - at)} ago`

/** `0:31`, `1:02:05`: the time inside an iteration. */
export function formatStopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  return `${hours > 0 ? `${hours}:${padTwoDigits(minutes)}` : minutes}:${padTwoDigits(seconds % 60)}`
}

const padTwoDigits = (value: number): string => String(value).padStart(2, '0')
