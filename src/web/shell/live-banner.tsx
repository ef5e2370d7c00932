import { useLive } from '../data/live.ts'
import { useNow } from '../ui/now.ts'
import { exactTime, roughly } from '../words/numbers.ts'

/** Old data is shown as old, never as nothing. */
export function LiveBanner() {
  const { state, at } = useLive()
  const now = useNow()
  if (state !== 'lost') return null
  return (
    <p role="status" className="border-b border-line bg-warn-bg px-5 py-1.5 text-center text-warn">
      {at === undefined
        ? 'The backend cannot be reached; trying to connect again.'
        : `Live updates lost ${roughly(now - at)} ago. Showing what was known at ${exactTime(at)}; trying to connect again.`}
    </p>
  )
}
