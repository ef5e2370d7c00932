import { pollIntervalMs, useConnection } from '../data/live.ts'
import { useNow } from '../ui/now.ts'
import { formatExactTime } from '../words/time-of-day.ts'
import { formatAge } from '../../words/durations.ts'

/** Old data is shown with its age, never hidden. */
export function LiveBanner() {
  const { state, at } = useConnection()
  const now = useNow()
  if (state !== 'lost' && state !== 'polling') return null
  return (
    <p role="status" className="border-b border-line bg-warn-bg px-5 py-1.5 text-center text-warn">
      {describeConnection(state, at, now)}
    </p>
  )
}

function describeConnection(state: 'lost' | 'polling', at: number | undefined, now: number): string {
  if (state === 'polling')
    return `Live updates do not arrive: a proxy may buffer them. This page refreshes every ${pollIntervalMs / 1000} s.`
  if (at === undefined) return 'Cannot reach the backend; reconnecting.'
  return `Live updates lost ${formatAge(now - at)} ago. Showing the state at ${formatExactTime(at)}; reconnecting.`
}
