import { z } from 'zod'

// oxlint-disable no-restricted-globals -- the one place of the pure layers that knows calendar time; it never asks for "now"

/** A moment: milliseconds since 1970 inside, UTC ISO 8601 in files and on the wire. */
export const Timestamp = z.codec(z.iso.datetime({ offset: true }), z.number(), {
  decode: (text) => Date.parse(text),
  encode: (ms) => formatTimestamp(ms),
})

export const formatTimestamp = (ms: number): string => new Date(ms).toISOString()

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
const durationPattern = /^(\d{1,9})(ms|s|m|h)$/

/** A length of time: milliseconds inside, `500ms`, `30s`, `10m` or `2h` in files. */
export const Duration = z.codec(
  z.string().regex(durationPattern, { error: 'expected a duration such as 500ms, 30s, 10m or 2h' }),
  z.number(),
  { decode: parseDuration, encode: formatDuration },
)

export function parseDuration(text: string): number {
  const match = durationPattern.exec(text)
  if (!match) return Number.NaN
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]
}

export function formatDuration(ms: number): string {
  for (const unit of ['h', 'm', 's'] as const) {
    if (ms > 0 && ms % unitMs[unit] === 0) return `${ms / unitMs[unit]}${unit}`
  }
  return `${ms}ms`
}
