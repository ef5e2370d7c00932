import { RalphError } from '../../../contract/errors.ts'

/** Throws when a caller exceeds the rate limit. Changes cost more than reads. */
export type RateLimit = (callerId: string, changes: boolean) => void

type Bucket = { tokens: number; at: number }

const capacity = 600
const refillPerSecond = 60
const changeCost = 5
/** A bucket that was idle for this long is deleted; it would be full. */
const bucketLifetimeMs = 60_000

/** One bucket per user, and one for all unauthenticated callers. Not shared between replicas: it limits the load of one process. */
export function createRateLimit(now: () => number): RateLimit {
  const buckets = new Map<string, Bucket>()
  let lastSweepAt = now()
  return (callerId, changes) => {
    const at = now()
    if (at - lastSweepAt > bucketLifetimeMs) {
      for (const [name, bucket] of buckets) if (at - bucket.at > bucketLifetimeMs) buckets.delete(name)
      lastSweepAt = at
    }
    const bucket = buckets.get(callerId) ?? { tokens: capacity, at }
    bucket.tokens = Math.min(capacity, bucket.tokens + ((at - bucket.at) / 1000) * refillPerSecond)
    bucket.at = at
    buckets.set(callerId, bucket)
    const cost = changes ? changeCost : 1
    if (bucket.tokens < cost) {
      const seconds = Math.ceil((cost - bucket.tokens) / refillPerSecond)
      throw new RalphError('RATE_LIMITED', 'too many requests', { hint: `wait ${seconds} s` })
    }
    bucket.tokens -= cost
  }
}
