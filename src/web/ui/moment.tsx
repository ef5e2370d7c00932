import { useNow } from './now.ts'
import { formatAgo, formatFullTime } from '../words/numbers.ts'

/** A relative time that stays current; the exact time with its zone on hover. */
export const Ago = ({ at }: { at: number }) => {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={formatFullTime(at)}>
      {formatAgo(at, now)}
    </time>
  )
}
