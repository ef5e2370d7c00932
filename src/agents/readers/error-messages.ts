import type { FailureClass } from '../../contract/outcome.ts'
import { classifyStatus } from './outcome.ts'

/**
 * Classifies the message of a structured error event, for programs that report no code. Never use it for the output of a
 * model, a tool or stderr. The first match wins, so specific patterns come first.
 */
export function classifyMessage(message: string): FailureClass {
  const special = specialPatterns.find(([pattern]) => pattern.test(message))
  if (special) return special[1]
  const status = parseStatus(message)
  if (status !== undefined) return classifyStatus(status)
  const general = generalPatterns.find(([pattern]) => pattern.test(message))
  if (general) return general[1]
  const bare = /\b(401|403|429|500|502|503|504|529)\b/.exec(message)?.[1]
  return bare === undefined ? 'unknown' : classifyStatus(Number(bare))
}

/** The HTTP status in a message. */
export function parseStatus(message: string): number | undefined {
  const digits = /\bstatus(?: code)?:? (\d{3})\b|"code":\s?(\d{3})\b/.exec(message)
  return digits ? Number(digits[1] ?? digits[2]) : undefined
}

type Patterns = readonly (readonly [RegExp, FailureClass])[]

const specialPatterns: Patterns = [
  [/missing environment variable/i, 'auth'],
  [/usage limit|daily quota/i, 'usage_limit'],
  [/context (?:window|length)|(?:prompt|input) is too (?:long|large)|maximum context/i, 'context'],
]

const generalPatterns: Patterns = [
  [/rate.?limit|too many requests|resource.?exhausted/i, 'rate_limit'],
  [/overloaded|at capacity|high demand|server error|unavailable/i, 'overloaded'],
  [/quota|billing|credit|upgrade to/i, 'auth'],
  [/api.?key|unauthori[sz]ed|unauthenticated|authenticat|log ?in|sign in|forbidden/i, 'auth'],
  [/malformed|incomplete json|invalid json|unexpected token|parse/i, 'protocol'],
  [/disconnected|connect|network|socket|fetch failed|terminated|timed? ?out|error sending request/i, 'network'],
]

/**
 * When a limit ends, for programs that report it only as local time: without seconds, so this returns the end of that minute,
 * and without a day if it is today. A time in the past means that the limit is over, not that it ends tomorrow.
 */
export function parseResetTime(message: string, now: number): number | undefined {
  const named = /try again at (?:([A-Z][a-z]+ \d{1,2})(?:st|nd|rd|th)?, (\d{4}),? )?(\d{1,2}):(\d{2})\s?([AP]M)/i.exec(
    message,
  )
  if (!named) return undefined
  const [, day, year, hour, minute, half = ''] = named
  const reset = day === undefined ? new Date(now) : new Date(`${day}, ${year}`)
  if (Number.isNaN(reset.getTime())) return undefined
  return reset.setHours((Number(hour) % 12) + (half.toUpperCase() === 'PM' ? 12 : 0), Number(minute) + 1, 0, 0)
}
