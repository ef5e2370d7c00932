import { useNow } from './now.ts'
import { formatAgo } from '../../words/durations.ts'
import { formatFullTime } from '../words/time-of-day.ts'

/** A relative time that stays current; the exact time with its zone on hover. */
export const Ago = ({ at }: { at: number }) => {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={formatFullTime(at)}>
      {formatAgo(at, now)}
    </time>
  )
}
