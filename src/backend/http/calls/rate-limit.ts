import { RalphError } from '../../../contract/errors.ts'

/** Throws when a caller exceeds the rate limit. Changes cost more than reads. */
export type RateLimit = (who: string, changes: boolean) => void

type Bucket = { tokens: number; at: number }

const capacity = 600
const perSecond = 60
const changeCost = 5
/** The bucket of a caller not seen for this long is full again. */
const bucketLifetimeMs = 60_000

/** One bucket per user, and one for all unauthenticated callers. Per process, because it limits load. */
export function createRateLimit(now: () => number): RateLimit {
  const buckets = new Map<string, Bucket>()
  let swept = now()
  return (who, changes) => {
    const at = now()
    if (at - swept > bucketLifetimeMs) {
      for (const [name, bucket] of buckets) if (at - bucket.at > bucketLifetimeMs) buckets.delete(name)
      swept = at
    }
    const bucket = buckets.get(who) ?? { tokens: capacity, at }
    bucket.tokens = Math.min(capacity, bucket.tokens + ((at - bucket.at) / 1000) * perSecond)
    bucket.at = at
    buckets.set(who, bucket)
    const price = changes ? changeCost : 1
    if (bucket.tokens < price) {
      const seconds = Math.ceil((price - bucket.tokens) / perSecond)
      throw new RalphError('RATE_LIMITED', 'too many requests', { hint: `wait ${seconds} s` })
    }
    bucket.tokens -= price
  }
}
