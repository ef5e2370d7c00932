import { useConnection } from '../data/live.ts'
import { useNow } from '../ui/now.ts'
import { formatExactTime } from '../words/time-of-day.ts'
import { formatAge } from '../../words/durations.ts'

/** Old data is shown with its age, never hidden. */
export function LiveBanner() {
  const { state, at } = useConnection()
  const now = useNow()
  if (state !== 'lost') return null
  return (
    <p role="status" className="border-b border-line bg-warn-bg px-5 py-1.5 text-center text-warn">
      {at === undefined
        ? 'Cannot reach the backend; reconnecting.'
        : `Live updates lost ${formatAge(now - at)} ago. Showing the state at ${formatExactTime(at)}; reconnecting.`}
    </p>
  )
}
