import { z } from 'zod'

// oxlint-disable no-restricted-globals -- the only calendar code in the pure layers; it never reads the current time

/** A moment: milliseconds since 1970 in memory, UTC ISO 8601 in files and on the wire. */
export const Timestamp = z.codec(z.iso.datetime({ offset: true }), z.number(), {
  decode: (text) => Date.parse(text),
  encode: (ms) => formatTimestamp(ms),
})

export const formatTimestamp = (ms: number): string => new Date(ms).toISOString()

const unitMs = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])
const durationPattern = /^(\d{1,9})(ms|s|m|h)$/

const durationText = 'a duration such as 500ms, 30s, 10m or 2h'

/** A duration: milliseconds in memory, `500ms`, `30s`, `10m` or `2h` in files. */
export const Duration = z.codec(
  z.string({ error: durationText }).regex(durationPattern, { error: durationText }),
  z.number(),
  { decode: parseDuration, encode: formatDuration },
)

const dayMs = 86_400_000
const periodPattern = /^(?:\d{1,6}d|\d{1,9}(?:ms|s|m|h))$/
const periodText = 'a period such as 12h or 30d'

/** How long something is kept: a duration, also in days. */
export const Period = z.codec(z.string({ error: periodText }).regex(periodPattern, { error: periodText }), z.number(), {
  decode: (text) => (text.endsWith('d') ? Number(text.slice(0, -1)) * dayMs : parseDuration(text)),
  encode: formatPeriod,
})

export function formatPeriod(ms: number): string {
  return ms > 0 && ms % dayMs === 0 ? `${ms / dayMs}d` : formatDuration(ms)
}

export function parseDuration(text: string): number {
  const match = durationPattern.exec(text)
  return Number(match?.[1]) * (unitMs.get(match?.[2] ?? '') ?? Number.NaN)
}

export function formatDuration(ms: number): string {
  const [unit, size] = [...unitMs].findLast(([, unitSize]) => ms > 0 && ms % unitSize === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}
